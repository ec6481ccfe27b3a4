package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.hybrid.HybridFigures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.streaming.api.transformations.StreamExchangeMode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs with hybrid exchanges have the same results as with Flink's own blocking shuffle. */
@Timeout(240)
class HybridJobsTest {
    private static final int SLOTS = 2;
    private static final int PARALLELISM = 4;
    private static final String FULL = "ALL_EXCHANGES_HYBRID_FULL";
    private static final String SELECTIVE = "ALL_EXCHANGES_HYBRID_SELECTIVE";
    private static final String MODE = "execution.batch-shuffle-mode";
    private static final String MEMORY = "faro.hybrid.memory";
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
            EXPECTED.put("mixed", stock.run(
                    environment -> Jobs.mixedExchanges(environment, StreamExchangeMode.BATCH), PARALLELISM).results());
        }
    }

    @AfterAll
    static void forget() {
        EXPECTED.clear();
        WatchedFactory.reset();
    }

    private void everyJob(int slots, Map<String, String> options, int parallelism) throws Exception {
        try (Cluster faro = Cluster.faro(folder, slots, options)) {
            for (Map.Entry<String, Cluster.Job> job : JOBS.entrySet()) {
                int before = WatchedFactory.HYBRID.size();
                assertEquals(
                        EXPECTED.get(job.getKey()), faro.run(job.getValue(), parallelism).results(), job.getKey());
                assertTrue(WatchedFactory.HYBRID.size() > before, job.getKey());
            }
        }
        nothingIsLeft(folder);
    }

    /** No file is in a folder. */
    static void nothingIsLeft(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            assertEquals(List.of(), all.filter(Files::isRegularFile).toList());
        }
    }

    private static long sum(java.util.function.ToLongFunction<HybridFigures> which) {
        return WatchedFactory.HYBRID.stream().filter(partition -> partition.store() != null)
                .mapToLong(partition -> which.applyAsLong(partition.store().figures())).sum();
    }

    @ParameterizedTest
    @CsvSource({FULL + ",0b", FULL + ",64mb", SELECTIVE + ",0b", SELECTIVE + ",64mb", SELECTIVE + ",100kb"})
    void everyJobInBothModes(String mode, String memory) throws Exception {
        everyJob(SLOTS, Map.of(MODE, mode, MEMORY, memory), PARALLELISM);
        boolean ample = memory.equals("64mb");
        assertEquals(ample, sum(HybridFigures::fromFiles) == 0, "read from files");
        // Flink makes partitions full that several consumers read.
        WatchedFactory.HYBRID.removeIf(partition ->
                mode.equals(SELECTIVE) == (partition.getPartitionType() == ResultPartitionType.HYBRID_FULL));
        if (mode.equals(FULL)) {
            assertEquals(sum(HybridFigures::bytes), sum(HybridFigures::written), "written once");
        } else {
            assertEquals(ample, sum(HybridFigures::written) == 0, "written");
        }
    }

    /** Consumers run after their producers. */
    @ParameterizedTest
    @ValueSource(strings = {FULL, SELECTIVE})
    void withOneSlot(String mode) throws Exception {
        everyJob(1, Map.of(MODE, mode, MEMORY, "300kb"), PARALLELISM);
    }

    @ParameterizedTest
    @ValueSource(strings = {FULL, SELECTIVE})
    void withTheOtherScheduler(String mode) throws Exception {
        everyJob(SLOTS, Map.of(MODE, mode, "jobmanager.scheduler", "Default", MEMORY, "300kb"), PARALLELISM);
    }

    @ParameterizedTest
    @CsvSource({FULL + ",ONLY_FINISHED_PRODUCERS", SELECTIVE + ",ONLY_FINISHED_PRODUCERS",
            FULL + ",ALL_PRODUCERS_FINISHED", SELECTIVE + ",ALL_PRODUCERS_FINISHED"})
    void withOtherConstraints(String mode, String constraint) throws Exception {
        everyJob(SLOTS, Map.of(MODE, mode, MEMORY, "300kb",
                "jobmanager.partition.hybrid.partition-data-consume-constraint", constraint), PARALLELISM);
    }

    @ParameterizedTest
    @ValueSource(strings = {FULL, SELECTIVE})
    void withSpeculativeExecution(String mode) throws Exception {
        everyJob(SLOTS, Map.of(MODE, mode, MEMORY, "300kb", "execution.batch.speculative.enabled", "true"), PARALLELISM);
    }

    @ParameterizedTest
    @CsvSource({FULL + ",NONE", FULL + ",ZSTD", SELECTIVE + ",NONE", SELECTIVE + ",ZSTD"})
    void withOtherCodecs(String mode, String codec) throws Exception {
        everyJob(SLOTS, Map.of(MODE, mode, MEMORY, "300kb", "taskmanager.network.compression.codec", codec), PARALLELISM);
    }

    /** 200 producers and 200 consumers; each task manager runs 50 at a time. */
    @ParameterizedTest
    @ValueSource(strings = {FULL, SELECTIVE})
    void parallelismOf200(String mode) throws Exception {
        Map<String, String> options = Map.of(MODE, mode, MEMORY, "16mb", "taskmanager.memory.segment-size", "8kb",
                "taskmanager.memory.network.min", "256mb", "taskmanager.memory.network.max", "256mb");
        try (Cluster faro = Cluster.faro(folder, 50, options)) {
            assertEquals(EXPECTED.get("keyedSum"), faro.run(Jobs::keyedSum, 200).results());
        }
        assertTrue(WatchedFactory.HYBRID.stream().anyMatch(partition -> partition.getNumberOfSubpartitions() == 200));
        nothingIsLeft(folder);
    }

    /** All partitions share one memory. */
    @ParameterizedTest
    @ValueSource(strings = {FULL, SELECTIVE})
    void jobsAtTheSameTime(String mode) throws Exception {
        try (Cluster faro = Cluster.faro(folder, 2 * PARALLELISM, Map.of(MODE, mode, MEMORY, "1mb"))) {
            faro.runTogether(JOBS, PARALLELISM)
                    .forEach((name, results) -> assertEquals(EXPECTED.get(name), results, name));
        }
        nothingIsLeft(folder);
    }

    /** Flink chooses the parallelism: there are fewer consumers than subpartitions, and each reads a range. */
    @ParameterizedTest
    @CsvSource({FULL + ",0b", FULL + ",64mb", SELECTIVE + ",0b", SELECTIVE + ",64mb"})
    void rangesOfSubpartitions(String mode, String memory) throws Exception {
        Map<String, String> options = Map.of(MODE, mode, MEMORY, memory, "faro.sort-buffer.size", "64kb",
                "execution.batch.adaptive.auto-parallelism.enabled", "true",
                "execution.batch.adaptive.auto-parallelism.max-parallelism", "12",
                "execution.batch.adaptive.auto-parallelism.default-source-parallelism", "4",
                "execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task", "256kb");
        Set<Integer> consumers = new HashSet<>();
        Set<Integer> subpartitions = new HashSet<>();
        try (Cluster faro = Cluster.faro(folder, SLOTS, options)) {
            for (Map.Entry<String, Cluster.Job> job : JOBS.entrySet()) {
                if (job.getKey().equals("broadcast")) {
                    // Each consumer has all records, so the result depends on the parallelism.
                    continue;
                }
                Cluster.Outcome outcome = faro.run(job.getValue(), 0);
                assertEquals(EXPECTED.get(job.getKey()), outcome.results(), job.getKey());
                outcome.graph().getAllVertices().values().stream()
                        .filter(vertex -> !vertex.getName().startsWith("Source"))
                        .forEach(vertex -> consumers.add(vertex.getParallelism()));
            }
            WatchedFactory.HYBRID.forEach(partition -> subpartitions.add(partition.getNumberOfSubpartitions()));
            // A broadcast has one.
            subpartitions.remove(1);
        }
        assertTrue(consumers.stream().anyMatch(count -> count < subpartitions.stream().min(Integer::compare).get()),
                "expected ranges, found " + subpartitions + " subpartitions for " + consumers + " consumers");
    }

    /** Stock Flink 2.3.0 fails unless the cluster's configuration says so too. */
    @ParameterizedTest
    @ValueSource(strings = {FULL, SELECTIVE})
    void chosenForAJobOnly(String mode) throws Exception {
        try (Cluster faro = Cluster.faro(folder, SLOTS, Map.of())) {
            assertEquals(EXPECTED.get("wordCount"),
                    faro.run(Jobs::wordCount, PARALLELISM, Map.of(MODE, mode)).results());
            assertFalse(WatchedFactory.HYBRID.isEmpty());
            assertTrue(WatchedFactory.PARTITIONS.isEmpty());
            assertEquals(EXPECTED.get("wordCount"), faro.run(Jobs::wordCount, PARALLELISM).results());
            assertFalse(WatchedFactory.PARTITIONS.isEmpty());
        }
    }

    /** Blocking exchanges of a job are Faro's too when the cluster's mode is a hybrid one. */
    @Test
    void blockingInAHybridCluster() throws Exception {
        try (Cluster faro = Cluster.faro(folder, SLOTS, Map.of(MODE, FULL))) {
            assertEquals(EXPECTED.get("keyedSum"), faro.run(Jobs::keyedSum, PARALLELISM,
                    Map.of(MODE, "ALL_EXCHANGES_BLOCKING")).results());
            assertFalse(WatchedFactory.PARTITIONS.isEmpty());
            assertTrue(WatchedFactory.HYBRID.isEmpty());
        }
    }

    /** A task writes a partition of each kind. */
    @ParameterizedTest
    @ValueSource(strings = {FULL, SELECTIVE})
    void aBlockingExchangeInAHybridJob(String mode) throws Exception {
        Map<String, String> options = Map.of(MODE, mode, MEMORY, "300kb");
        Cluster.Job job = environment -> Jobs.mixedExchanges(environment, StreamExchangeMode.UNDEFINED);
        try (Cluster faro = Cluster.faro(folder, 2 * SLOTS, options)) {
            List<String> results = faro.run(job, PARALLELISM).results();
            assertEquals(EXPECTED.get("mixed"), results);
        }
        assertEquals(PARALLELISM, WatchedFactory.PARTITIONS.size());
        assertEquals(PARALLELISM, WatchedFactory.MIXED.get(), "tasks with partitions of both kinds");
        nothingIsLeft(folder);
    }

    /** No thread with such a name is left; {@code TinyOutputsTest} counts those that end at once. */
    @Test
    void noThreadsOfOutputs() throws Exception {
        try (Cluster faro = Cluster.faro(folder, SLOTS, Map.of(MODE, FULL))) {
            faro.run(Jobs::keyedSum, PARALLELISM);
            Set<String> before = threads();
            for (int i = 0; i < 5; i++) {
                faro.run(Jobs::keyedSum, PARALLELISM);
            }
            Set<String> added = threads();
            added.removeAll(before);
            added.removeIf(name -> !name.contains("faro") && !name.contains("Spill") && !name.contains("flush thread")
                    && !name.contains("reclaim"));
            assertEquals(Set.of(), added);
        }
    }

    private static Set<String> threads() {
        Set<String> names = new HashSet<>();
        Thread.getAllStackTraces().keySet().forEach(thread -> names.add(thread.getName()));
        return names;
    }
}
