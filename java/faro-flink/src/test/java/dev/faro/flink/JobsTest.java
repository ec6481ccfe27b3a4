package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.codec.Codec;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs have the same results as with Flink's own shuffle. */
class JobsTest {
    private static final int SLOTS = 2;
    private static final int PARALLELISM = 4;
    private static final Map<String, Cluster.Job> JOBS = Map.of(
            "wordCount", Jobs::wordCount,
            "keyedSum", Jobs::keyedSum,
            "broadcast", Jobs::broadcast,
            "broadcastJoin", Jobs::broadcastJoin,
            "largeRecords", Jobs::largeRecords,
            "oneKey", Jobs::oneKey,
            "nothing", Jobs::nothing);

    @TempDir
    static Path stockFolder;

    @TempDir
    Path folder;

    private static final Map<String, List<String>> EXPECTED = new HashMap<>();

    @BeforeAll
    static void runWithStock() throws Exception {
        try (Cluster stock = Cluster.stock(stockFolder, SLOTS, Map.of())) {
            for (Map.Entry<String, Cluster.Job> job : JOBS.entrySet()) {
                EXPECTED.put(job.getKey(), stock.run(job.getValue(), PARALLELISM).results());
            }
        }
        assertTrue(EXPECTED.get("wordCount").contains("reader " + countOf("reader")));
        assertEquals(20_000 + 3_000 * PARALLELISM, EXPECTED.get("broadcast").size());
    }

    @AfterAll
    static void forget() {
        EXPECTED.clear();
        WatchedFactory.reset();
    }

    private static long countOf(String word) {
        return Jobs.text().stream().flatMap(line -> Stream.of(line.toLowerCase().split("\\W+")))
                .filter(word::equals).count();
    }

    @ParameterizedTest
    @ValueSource(strings = {"16mb", "64kb"})
    void sortBuffersOfAnySize(String size) throws Exception {
        everyJob(Map.of("faro.sort-buffer.size", size));
    }

    @Test
    void withZstandard() throws Exception {
        everyJob(Map.of("taskmanager.network.compression.codec", "ZSTD"));
        assertEquals(Set.of(Codec.ZSTD), codecs());
    }

    @Test
    void withoutCompression() throws Exception {
        everyJob(Map.of("taskmanager.network.compression.codec", "NONE"));
        assertEquals(Set.of(Codec.NONE), codecs());
    }

    private static Set<Codec> codecs() {
        return WatchedFactory.PARTITIONS.stream()
                .map(partition -> partition.settings().codec()).collect(Collectors.toSet());
    }

    private void everyJob(Map<String, String> options) throws Exception {
        try (Cluster faro = Cluster.faro(folder, SLOTS, options)) {
            for (Map.Entry<String, Cluster.Job> job : JOBS.entrySet()) {
                int before = WatchedFactory.PARTITIONS.size();
                assertEquals(EXPECTED.get(job.getKey()), faro.run(job.getValue(), PARALLELISM).results(), job.getKey());
                assertTrue(WatchedFactory.PARTITIONS.size() >= before + PARALLELISM, job.getKey());
            }
        }
        assertTrue(files().isEmpty(), "no files are left");
        boolean compressed = !"NONE".equals(options.get("taskmanager.network.compression.codec"));
        assertEquals(Set.of(compressed), WatchedFactory.DECOMPRESSORS.stream()
                .map(GateDecompressor.class::isInstance).collect(Collectors.toSet()), "gates decompress with C code");
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).toList();
        }
    }

    /** 200 producers and 200 consumers; each task manager runs 50 at a time. */
    @Test
    void parallelismOf200() throws Exception {
        Map<String, String> options = Map.of(
                "taskmanager.memory.segment-size", "8kb",
                "taskmanager.memory.network.min", "256mb",
                "taskmanager.memory.network.max", "256mb");
        try (Cluster faro = Cluster.faro(folder, 50, options)) {
            for (String name : List.of("keyedSum", "wordCount")) {
                assertEquals(EXPECTED.get(name), faro.run(JOBS.get(name), 200).results(), name);
            }
        }
        assertTrue(WatchedFactory.PARTITIONS.stream()
                .anyMatch(partition -> partition.getNumberOfSubpartitions() == 200));
    }

    /** Flink's scheduler for batch jobs refuses such jobs; its other scheduler accepts them. */
    @Test
    void exchangesOfBothKinds() throws Exception {
        Map<String, String> options = Map.of("jobmanager.scheduler", "Default");
        List<String> expected;
        try (Cluster stock = Cluster.stock(folder, SLOTS, options)) {
            expected = stock.run(Jobs::mixedExchanges, PARALLELISM).results();
        }
        try (Cluster faro = Cluster.faro(folder, SLOTS, options)) {
            assertEquals(expected, faro.run(Jobs::mixedExchanges, PARALLELISM).results());
        }
        assertEquals(PARALLELISM, WatchedFactory.MIXED.get(), "tasks with partitions of both kinds");
    }

    @Test
    void jobsAtTheSameTime() throws Exception {
        try (Cluster faro = Cluster.faro(folder, 2 * PARALLELISM, Map.of("faro.sort-buffer.size", "256kb"))) {
            faro.runTogether(JOBS, PARALLELISM)
                    .forEach((name, results) -> assertEquals(EXPECTED.get(name), results, name));
        }
        assertTrue(files().isEmpty(), "no files are left");
    }

    /** Flink chooses the parallelism: there are fewer consumers than subpartitions, and each reads a range. */
    @Test
    void rangesOfSubpartitions() throws Exception {
        Map<String, String> options = Map.of(
                "faro.sort-buffer.size", "64kb",
                "execution.batch.adaptive.auto-parallelism.enabled", "true",
                "execution.batch.adaptive.auto-parallelism.max-parallelism", "12",
                "execution.batch.adaptive.auto-parallelism.default-source-parallelism", "4",
                "execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task", "256kb");
        Set<Integer> subpartitions = new HashSet<>();
        Set<Integer> consumers = new HashSet<>();
        try (Cluster faro = Cluster.faro(folder, SLOTS, options)) {
            for (String name : List.of("wordCount", "keyedSum", "oneKey", "largeRecords", "nothing")) {
                Cluster.Outcome outcome = faro.run(JOBS.get(name), 0);
                assertEquals(EXPECTED.get(name), outcome.results(), name);
                outcome.graph().getAllVertices().values().stream()
                        .filter(vertex -> !vertex.getName().startsWith("Source"))
                        .forEach(vertex -> consumers.add(vertex.getParallelism()));
            }
            WatchedFactory.PARTITIONS.forEach(partition -> subpartitions.add(partition.getNumberOfSubpartitions()));
        }
        assertTrue(Collections.min(consumers) > 0 && Collections.min(consumers) < Collections.min(subpartitions),
                "expected ranges, found " + subpartitions + " subpartitions for " + consumers + " consumers");
    }

    /** The files that a consumer finds are complete Faro outputs that state their origin. */
    @ParameterizedTest
    @EnumSource(FaroOptions.Origin.class)
    void filesStateTheirOrigin(FaroOptions.Origin origin) throws Exception {
        Map<String, Map<String, String>> found = new ConcurrentHashMap<>();
        try (Cluster faro = Cluster.faro(folder, SLOTS, Map.of("faro.properties", origin.name()))) {
            WatchedFactory.beforeReading = partitions -> partitions.stream()
                    .filter(partition -> partition.isFinished() && !partition.isReleased())
                    .forEach(partition -> found.computeIfAbsent(partition.getPartitionId().toString(),
                            id -> checked(partition.files())));
            Cluster.Outcome outcome = faro.run(Jobs::keyedSum, PARALLELISM);
            assertEquals(PARALLELISM, found.size());
            String job = outcome.graph().getJobID().toString();
            for (Map<String, String> properties : found.values()) {
                if (origin != FaroOptions.Origin.ALL) {
                    assertEquals(origin == FaroOptions.Origin.NONE ? Set.of()
                            : Set.of("flink.job.id", "flink.partition.id"), properties.keySet());
                    continue;
                }
                assertEquals(job, properties.get("flink.job.id"));
                assertTrue(outcome.graph().getAllVertices().keySet().stream()
                        .anyMatch(vertex -> vertex.toString().equals(properties.get("flink.vertex.id"))));
                assertFalse(properties.get("flink.task").isEmpty());
            }
        }
    }

    private static Map<String, String> checked(PartitionFiles files) {
        try (Reader reader = files.open(ReaderOptions.DEFAULT)) {
            Check.check(reader, CheckLevel.DECODE);
            assertEquals(PARALLELISM, reader.header().partitionCount());
            return reader.footer().properties();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
