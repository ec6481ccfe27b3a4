package dev.faro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The compared shuffles are those of their names, as their files show, and have the codec that was asked for. */
class JobsBenchmarkTest {
    private static final int PLAIN_MIB = 4;

    @TempDir
    private Path folder;

    @Test
    void shufflesAreThoseOfTheirNames() throws Exception {
        Path out = folder.resolve("lines");
        run(out, "spark-jobs", "sort", 3);
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(out), left.toList());
        }
        Map<String, Integer> files = new HashMap<>();
        for (String line : Files.readAllLines(out)) {
            JsonNode node = new ObjectMapper().readTree(line);
            files.put(node.get("subject").asText(), node.get("files").asInt());
            assertEquals("none", node.get("case").get("codec").asText());
            assertTrue(node.get("stored_bytes").asLong() > (PLAIN_MIB << 20) - 100, line);
        }
        // Data and index of four map tasks; Spark's checksums are files of their own.
        assertEquals(Map.of("faro", 8, "spark-sort", 12, "spark-sort-no-checksums", 8), files);
    }

    private void run(Path out, String part, String job, int partitions) throws Exception {
        JobsBenchmark benchmark = new JobsBenchmark(Map.of("part", part, "--out", out.toString(), "--dir",
                folder.toString(), "job", job, "partitions", "" + partitions, "codec", "none", "--plain-mib",
                "" + PLAIN_MIB, "--repetitions", "1"));
        try {
            benchmark.run(List.of("-Xmx700m"));
        } finally {
            benchmark.end();
        }
    }

    /** With push, most blocks come in chunks. */
    @Test
    void pushedShufflesHaveFewReads() throws Exception {
        Path out = folder.resolve("lines");
        run(out, "spark-push", "tiny-blocks", 30);
        Map<String, Integer> reads = new HashMap<>();
        for (String line : Files.readAllLines(out)) {
            JsonNode node = new ObjectMapper().readTree(line);
            reads.put(node.get("subject").asText(), node.get("figures").get("reads").asInt());
        }
        assertEquals(900, reads.get("faro"));
        assertEquals(900, reads.get("spark-sort"));
        assertTrue(reads.get("faro-push") < 300 && reads.get("spark-push") < 300, reads.toString());
    }
}
