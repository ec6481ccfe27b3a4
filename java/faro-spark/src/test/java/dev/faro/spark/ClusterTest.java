package dev.faro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.FetchFailed;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.deploy.ExternalShuffleService;
import org.apache.spark.executor.ShuffleReadMetrics;
import org.apache.spark.internal.config.package$;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.cluster.CoarseGrainedSchedulerBackend;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Option;
import scala.Tuple2;

/** Two executors in processes of their own, which fetch from each other. Spark waits forever if they do not start. */
@Timeout(180)
class ClusterTest {
    private static final String MASTER = "local-cluster[2,1,1024]";

    @TempDir
    private Path folder;

    /** What the reduce tasks read, and how often a fetch failed. */
    private static final class Reads extends SparkListener {
        private final AtomicLong remoteBlocks = new AtomicLong();
        private final AtomicLong localBlocks = new AtomicLong();
        private final AtomicLong failures = new AtomicLong();

        @Override
        public void onTaskEnd(SparkListenerTaskEnd end) {
            if (end.reason() instanceof FetchFailed) {
                failures.incrementAndGet();
            }
            if (end.taskMetrics() != null) {
                ShuffleReadMetrics read = end.taskMetrics().shuffleReadMetrics();
                remoteBlocks.addAndGet(read.remoteBlocksFetched());
                localBlocks.addAndGet(read.localBlocksFetched());
            }
        }
    }

    @BeforeAll
    static void makeSparkHome() throws Exception {
        TestHome.make();
    }

    private TestSession start(Map<String, String> more) {
        Map<String, String> settings = new HashMap<>(TestHome.settings());
        settings.putAll(Map.of("spark.serializer", "org.apache.spark.serializer.KryoSerializer",
                "spark.shuffle.io.maxRetries", "1", "spark.shuffle.io.retryWait", "100ms",
                "spark.executor.heartbeatInterval", "1s"));
        settings.putAll(more);
        return TestSession.faro(MASTER, folder, settings);
    }

    private static JavaPairRDD<Integer, String> shuffled(TestSession session, int maps, int partitions) {
        List<Integer> numbers = IntStream.range(0, 30_000).boxed().collect(Collectors.toList());
        return session.rdds().parallelize(numbers, maps).mapToPair(number -> new Tuple2<>(number, "text " + number))
                .repartition(partitions);
    }

    private static List<String> expected() {
        return IntStream.range(0, 30_000).mapToObj(number -> "(" + number + ",text " + number + ")").sorted()
                .collect(Collectors.toList());
    }

    private static List<String> rows(JavaPairRDD<Integer, String> rdd) {
        List<String> rows = new ArrayList<>(rdd.map(String::valueOf).collect());
        Collections.sort(rows);
        return rows;
    }

    /** Over the network, or from the disk of the other executor of the host. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void executorsFetchFromEachOther(boolean hostLocal) throws Exception {
        try (TestSession session = start(Map.of("spark.shuffle.readHostLocalDisk", String.valueOf(hostLocal)))) {
            Reads reads = new Reads();
            session.rdds().sc().addSparkListener(reads);
            assertEquals(expected(), rows(shuffled(session, 6, 5)));
            waitFor(session);
            assertEquals(0, reads.failures.get());
            assertEquals(30, reads.remoteBlocks.get() + reads.localBlocks.get());
            assertTrue(hostLocal == (reads.remoteBlocks.get() == 0), reads.remoteBlocks + " remote blocks");
        }
    }

    /** Blocks that are fetched to the disk, in many pieces. */
    @Test
    void largeBlocksAreStreamed() throws Exception {
        Map<String, String> settings = Map.of("spark.shuffle.readHostLocalDisk", "false",
                "spark.network.maxRemoteBlockSizeFetchToMem", "4k", "spark.shuffle.compress", "false",
                Settings.BUFFER_SIZE, "64k");
        try (TestSession session = start(settings)) {
            Reads reads = new Reads();
            session.rdds().sc().addSparkListener(reads);
            assertEquals(expected(), rows(shuffled(session, 4, 3)));
            waitFor(session);
            assertEquals(0, reads.failures.get());
            assertTrue(reads.remoteBlocks.get() > 0);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void damageIsAFetchFailure(boolean hostLocal) throws Exception {
        Map<String, String> settings = Map.of("spark.shuffle.readHostLocalDisk", String.valueOf(hostLocal),
                "spark.shuffle.compress", "false");
        try (TestSession session = start(settings)) {
            Reads reads = new Reads();
            session.rdds().sc().addSparkListener(reads);
            JavaPairRDD<Integer, String> rdd = shuffled(session, 4, 3);
            rdd.count();
            List<TestSession.Output> outputs = session.outputs();
            assertEquals(4, outputs.size());
            byte[] file = Files.readAllBytes(outputs.get(1).data());
            file[file.length / 2] ^= 1;
            Files.write(outputs.get(1).data(), file);
            assertEquals(expected(), rows(rdd));
            waitFor(session);
            assertTrue(reads.failures.get() > 0);
        }
    }

    /** The service sends what executors wrote, even when they have died. */
    @ParameterizedTest
    @ValueSource(strings = {"Kryo", "Java"})
    void theShuffleServiceServes(String serializer) throws Exception {
        FileTime begun = FileTime.from(Instant.now());
        int port = freePort();
        Map<String, String> settings = new HashMap<>(Map.of("spark.shuffle.service.enabled", "true",
                "spark.shuffle.service.port", String.valueOf(port), "spark.task.maxFailures", "8",
                "spark.shuffle.readHostLocalDisk", "false", "spark.shuffle.compress", "false"));
        settings.put("spark.serializer", "org.apache.spark.serializer." + serializer + "Serializer");
        ExternalShuffleService service = service(settings);
        try (TestSession session = start(settings)) {
            Reads reads = new Reads();
            session.rdds().sc().addSparkListener(reads);
            JavaPairRDD<Integer, String> rdd = shuffled(session, 4, 3);
            rdd.count();
            // What is on the disk is for the service: fragments, and Spark's index.
            assertEquals(List.of(), session.outputs());
            killOne(session);
            assertEquals(expected(), rows(rdd));
            waitFor(session);
            assertEquals(0, reads.failures.get(), "an output was lost");
            assertTrue(reads.remoteBlocks.get() > 0);
            flipInData(begun);
            assertEquals(expected(), rows(rdd));
            waitFor(session);
            assertTrue(reads.failures.get() > 0, "damage was not noticed");
        } finally {
            service.stop();
        }
    }

    private static ExternalShuffleService service(Map<String, String> settings) {
        SparkConf conf = new SparkConf(false);
        settings.forEach(conf::set);
        ExternalShuffleService service =
                new ExternalShuffleService(conf, new SecurityManager(conf, Option.empty(), package$.MODULE$.AUTH_SECRET_FILE()));
        service.start();
        return service;
    }

    /** Dynamic allocation: executors that have nothing to do end, and the service sends what they wrote. */
    @Test
    void executorsEndAndComeAgain() throws Exception {
        Map<String, String> settings = new HashMap<>(Map.of("spark.shuffle.service.enabled", "true",
                "spark.shuffle.service.port", String.valueOf(freePort()), "spark.dynamicAllocation.enabled", "true",
                "spark.dynamicAllocation.minExecutors", "0", "spark.dynamicAllocation.maxExecutors", "2",
                "spark.dynamicAllocation.executorIdleTimeout", "1s", "spark.shuffle.readHostLocalDisk", "false"));
        ExternalShuffleService service = service(settings);
        try (TestSession session = start(settings)) {
            Reads reads = new Reads();
            session.rdds().sc().addSparkListener(reads);
            CoarseGrainedSchedulerBackend backend =
                    (CoarseGrainedSchedulerBackend) session.rdds().sc().schedulerBackend();
            JavaPairRDD<Integer, String> rdd = shuffled(session, 4, 3);
            rdd.count();
            assertTimeoutPreemptively(Duration.ofMinutes(1), () -> {
                while (!backend.getExecutorIds().isEmpty()) {
                    Thread.sleep(100);
                }
            });
            assertEquals(expected(), rows(rdd));
            waitFor(session);
            assertEquals(0, reads.failures.get(), "an output was lost");
            assertTrue(reads.remoteBlocks.get() > 0);
        } finally {
            service.stop();
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    /** Flips a bit in the middle of the largest output of map tasks. Killed processes have left other files. */
    private static void flipInData(FileTime begun) throws IOException {
        Path largest = null;
        for (Path file : TestSession.files(TestSession.LOCAL)) {
            String name = file.getFileName().toString();
            if (name.startsWith("shuffle_") && name.endsWith("_0.data")
                    && Files.getLastModifiedTime(file).compareTo(begun) >= 0
                    && (largest == null || Files.size(file) > Files.size(largest))) {
                largest = file;
            }
        }
        byte[] bytes = Files.readAllBytes(largest);
        bytes[bytes.length / 2] ^= 1;
        Files.write(largest, bytes);
    }

    /** Lets one executor end as if it had been killed. */
    private void killOne(TestSession session) {
        String marker = folder.resolve("died").toString();
        session.rdds().parallelize(List.of(1, 2), 2).foreach(any -> {
            if (new File(marker).createNewFile()) {
                Runtime.getRuntime().halt(1);
            }
        });
        assertTrue(Files.exists(Path.of(marker)));
    }

    /** An executor that is decommissioned hands its outputs on, as they are. */
    @Test
    void outputsMove() throws Exception {
        Map<String, String> settings = Map.of("spark.decommission.enabled", "true",
                "spark.storage.decommission.enabled", "true", "spark.storage.decommission.shuffleBlocks.enabled", "true",
                "spark.storage.decommission.replicationReattemptInterval", "1s");
        try (TestSession session = start(settings)) {
            Reads reads = new Reads();
            session.rdds().sc().addSparkListener(reads);
            JavaPairRDD<Integer, String> rdd = shuffled(session, 4, 3);
            rdd.count();
            CoarseGrainedSchedulerBackend backend =
                    (CoarseGrainedSchedulerBackend) session.rdds().sc().schedulerBackend();
            assertTrue(backend.decommissionExecutor(
                    "0", new ExecutorDecommissionInfo("a test", Option.empty()), false, false));
            while (backend.getExecutorIds().contains("0")) {
                Thread.sleep(100);
            }
            assertEquals(expected(), rows(rdd));
            waitFor(session);
            assertEquals(0, reads.failures.get(), "an output was lost");
        }
    }

    /** Two attempts of a map task write at the same time. */
    @Test
    void speculativeAttempts() throws Exception {
        Map<String, String> settings = Map.of("spark.speculation", "true", "spark.speculation.interval", "100ms",
                "spark.speculation.multiplier", "1.1", "spark.speculation.quantile", "0.5",
                "spark.speculation.minTaskRuntime", "100ms");
        try (TestSession session = start(settings)) {
            List<Integer> numbers = IntStream.range(0, 30_000).boxed().collect(Collectors.toList());
            JavaPairRDD<Integer, String> rdd = session.rdds().parallelize(numbers, 4).mapToPair(number -> {
                if (number == 7499 && TaskContext.get().attemptNumber() == 0) {
                    // The last record of the first task, so that both attempts have written before.
                    Thread.sleep(10_000);
                }
                return new Tuple2<>(number, "text " + number);
            }).repartition(3);
            assertEquals(expected(), rows(rdd));
            assertEquals(expected(), rows(rdd));
        }
    }

    /** The disk of one executor is full: a file that it writes cannot have more than some kilobytes. */
    @ParameterizedTest
    @ValueSource(strings = {"Kryo", "Java"})
    void aFullDisk(String serializer) throws Exception {
        Path java = Files.createDirectories(folder.resolve("java/bin")).resolve("java");
        String real = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Path limited = folder.resolve("limited");
        // The first executor that starts is the one.
        Files.writeString(java, "#!/bin/sh\nif mkdir '" + limited + "' 2> /dev/null; then ulimit -f 40; fi\nexec '" + real
                + "' \"$@\"\n");
        assertTrue(java.toFile().setExecutable(true));
        Map<String, String> settings = Map.of("spark.executorEnv.JAVA_HOME", folder.resolve("java").toString(),
                // It fails at once, and takes the task again, until the other executor has time for it.
                "spark.task.maxFailures", "1000", "spark.shuffle.compress", "false",
                // Zstandard cannot unpack its library there.
                "spark.shuffle.mapStatus.compression.codec", "lzf",
                "spark.serializer", "org.apache.spark.serializer." + serializer + "Serializer");
        try (TestSession session = start(settings)) {
            AtomicLong failed = new AtomicLong();
            session.rdds().sc().addSparkListener(new SparkListener() {
                @Override
                public void onTaskEnd(SparkListenerTaskEnd end) {
                    if (end.reason().toString().contains("File too large")) {
                        failed.incrementAndGet();
                    }
                }
            });
            assertEquals(expected(), rows(shuffled(session, 8, 3)));
            waitFor(session);
            assertTrue(Files.exists(limited));
            assertTrue(failed.get() > 0, "no write has failed");
            // What is there is whole.
            for (TestSession.Output output : session.outputs()) {
                output.open().close();
            }
        }
    }

    /** The outputs of an executor that dies are written again. */
    @Test
    void anExecutorDies() throws Exception {
        try (TestSession session = start(Map.of("spark.task.maxFailures", "8"))) {
            JavaPairRDD<Integer, String> rdd = shuffled(session, 4, 3);
            rdd.count();
            killOne(session);
            assertEquals(expected(), rows(rdd));
        }
    }

    private static void waitFor(TestSession session) throws TimeoutException {
        session.rdds().sc().listenerBus().waitUntilEmpty();
    }
}
