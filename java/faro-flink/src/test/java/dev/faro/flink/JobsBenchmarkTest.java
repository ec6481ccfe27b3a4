package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The compared shuffles are those of their names, as their files show. */
class JobsBenchmarkTest {
    private static final List<String> MEMORY = List.of("-Xmx512m", "-XX:MaxDirectMemorySize=1g");
    private static final int PARALLELISM = 3;

    @TempDir
    private Path folder;

    @Test
    void shufflesAreThoseOfTheirNames() throws Exception {
        Path out = folder.resolve("lines");
        JobsBenchmark benchmark = new JobsBenchmark(Map.of("--out", out.toString(), "--dir", folder.toString(),
                "job", "rebalance", "partitions", "" + PARALLELISM, "--plain-mib", "4", "--repetitions", "1"));
        try {
            benchmark.run(List.of("-Xmx512m", "-XX:MaxDirectMemorySize=1g"));
        } finally {
            benchmark.close();
        }
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(out), left.toList());
        }
        Map<String, JsonNode> found = read(out);
        // A file for each producer, a data file and an index file, or a file for each producer and consumer.
        assertEquals(Map.of("faro", PARALLELISM, "flink-sort", 2 * PARALLELISM,
                "flink-hash", PARALLELISM * PARALLELISM), files(found));
        assertTrue(found.get("flink-sort").get("plain_bytes").asLong() > 4_000_000);
        assertTrue(found.get("flink-sort").get("index_bytes").asLong() > 0);
        assertEquals(0, found.get("flink-hash").get("index_bytes").asLong());
    }

    @Test
    void hybridShufflesHaveFilesByTheirModes() throws Exception {
        Path out = folder.resolve("lines");
        JobsBenchmark benchmark = new JobsBenchmark(Map.of("part", "flink-hybrid", "--out", out.toString(), "--dir",
                folder.toString(), "job", "rebalance", "partitions", "" + PARALLELISM, "--plain-mib", "4",
                "--repetitions", "1"));
        try {
            benchmark.run(List.of("-Xmx512m", "-XX:MaxDirectMemorySize=1g"));
        } finally {
            benchmark.close();
        }
        Map<String, JsonNode> found = read(out);
        assertEquals(6, found.size());
        // Memory is enough.
        assertEquals(0, found.get("faro-selective").get("files").asInt());
        assertEquals(2 * PARALLELISM, found.get("faro-full").get("files").asInt());
    }

    /** Each of two exchanges has a file for each of two producers, or none with memory enough; the results are equal. */
    @Test
    void queriesMakeTheFilesOfTheirExchanges() throws Exception {
        Path out = folder.resolve("lines");
        try (QueriesBenchmark benchmark = new QueriesBenchmark(Map.of("--out", out.toString(), "--dir",
                folder.toString(), "job", "sums", "clients", "2", "--seconds", "0.1", "--repetitions", "1",
                "--subjects", "faro,faro-selective"), MEMORY)) {
            benchmark.run();
        }
        Map<String, JsonNode> found = read(out);
        assertEquals(4.0, found.get("faro").get("figures").get("files_each").asDouble());
        assertEquals(0.0, found.get("faro-selective").get("figures").get("files_each").asDouble());
    }

    /** Kills the process of a shuffle after some turns, as if Flink had ended it. */
    private final class Killed extends QueriesBenchmark {
        private final String shuffle;
        private final IntPredicate kills;

        Killed(Path out, String shuffle, IntPredicate kills) throws IOException {
            super(Map.of("--out", out.toString(), "--dir", folder.toString(), "job", "sums", "clients", "1",
                    "--seconds", "0.1", "--repetitions", "2", "--subjects", "faro,flink-sort"), MEMORY);
            this.shuffle = shuffle;
            this.kills = kills;
        }

        @Override
        boolean isFlinksFault(String ended, ShuffleProcess.EndedException end) {
            return ended.equals("flink-sort");
        }

        @Override
        void turned(int number) {
            if (kills.test(number) && process(shuffle) != null) {
                process(shuffle).kill();
            }
        }
    }

    @Test
    void aProcessThatFlinkEndsIsStartedAgain() throws Exception {
        Path out = folder.resolve("lines");
        try (Killed benchmark = new Killed(out, "flink-sort", number -> number == 2)) {
            benchmark.run();
        }
        Map<String, JsonNode> found = read(out);
        assertEquals(1, found.get("flink-sort").get("figures").get("ended_early").asInt());
        assertTrue(found.get("faro").get("figures").has("cpu_ratio"));
    }

    @Test
    void aShuffleThatEndsOftenIsLeftOut() throws Exception {
        Path out = folder.resolve("lines");
        try (Killed benchmark = new Killed(out, "flink-sort", number -> number <= 4)) {
            benchmark.run();
        }
        Map<String, JsonNode> found = read(out);
        assertEquals(Set.of("faro"), found.keySet());
        assertEquals(1, found.get("faro").get("figures").get("peer_left_out").asInt());
    }

    @Test
    void anotherProcessThatEndsIsAFailure() throws Exception {
        try (Killed benchmark = new Killed(folder.resolve("lines"), "faro", number -> number == 1)) {
            assertThrows(ShuffleProcess.EndedException.class, benchmark::run);
        }
    }

    @Test
    void tinyPartitionsHaveTheFilesOfTheirKinds() throws Exception {
        Path out = folder.resolve("lines");
        new TinyOutputsBenchmark(Map.of("--out", out.toString(), "--dir", folder.toString(), "partitions", "2",
                "--quick", "yes", "--repetitions", "1")).run();
        assertEquals(Map.of("faro", 1, "faro-selective", 0, "faro-full", 2, "flink-sort", 2, "plain-file", 1),
                files(read(out)));
    }

    private static Map<String, JsonNode> read(Path out) throws IOException {
        Map<String, JsonNode> found = new HashMap<>();
        for (String line : Files.readAllLines(out)) {
            JsonNode node = new ObjectMapper().readTree(line);
            found.put(node.get("subject").asText(), node);
        }
        return found;
    }

    private static Map<String, Integer> files(Map<String, JsonNode> found) {
        Map<String, Integer> files = new HashMap<>();
        found.forEach((subject, line) -> files.put(subject, line.get("files").asInt()));
        return files;
    }
}
