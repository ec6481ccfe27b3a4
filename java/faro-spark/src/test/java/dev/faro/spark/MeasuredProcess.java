package dev.faro.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.faro.spark.merge.FaroMergeManager;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.spark.network.shuffle.RemoteBlockPushResolver;

/** A process that has one kind of shuffle, and runs one job each time when it gets a line. */
final class MeasuredProcess {
    static final String FARO = "faro";
    static final String SPARK = "spark-sort";
    static final String UNCHECKED = "spark-sort-no-checksums";
    static final String FARO_PUSH = "faro-push";
    static final String SPARK_PUSH = "spark-push";
    /** The shuffles that are compared, by parts of the benchmarks. */
    static final Map<String, List<String>> SHUFFLES = Map.of("spark-jobs", List.of(FARO, SPARK, UNCHECKED),
            "spark-push", List.of(FARO_PUSH, SPARK_PUSH, FARO, SPARK));

    /**
     * What a run took.
     *
     * @param nanos from the job's begin to its result
     * @param cpuNanos of all threads of the process, and of executors
     * @param writtenBytes that these processes handed to the system, into files and otherwise
     * @param storedBytes of the shuffle's files after the job
     * @param files how many they are
     * @param peakHeap the most heap in use, with garbage, in bytes, of this process
     * @param peakMemory the most memory of each process, of all together, in bytes
     * @param reads blocks and merged chunks that reduce tasks have fetched
     * @param readBytes of these
     * @param results of the job
     */
    record Taken(long nanos, long cpuNanos, long writtenBytes, long storedBytes, long files, long peakHeap,
            long peakMemory, long reads, long readBytes, String results) {}

    private MeasuredProcess() {}

    /** Arguments: the part, the shuffle, a folder for files, the job as JSON. */
    public static void main(String[] arguments) throws Exception {
        String shuffle = arguments[1];
        Path folder = Path.of(arguments[2]);
        ObjectMapper mapper = new ObjectMapper();
        BenchmarkJob job = mapper.readValue(arguments[3], BenchmarkJob.class);
        Map<String, String> settings = new TreeMap<>(job.settings(Runtime.getRuntime().maxMemory()));
        settings.put("spark.local.dir", folder.resolve("local").toString());
        if (List.of(FARO, FARO_PUSH).contains(shuffle)) {
            settings.put("spark.shuffle.manager", FaroShuffleManager.class.getName());
        } else {
            settings.put("spark.shuffle.checksum.enabled", String.valueOf(!shuffle.equals(UNCHECKED)));
        }
        Files.createDirectories(folder.resolve("local"));
        if (arguments[0].equals("spark-push")) {
            settings.put("spark.shuffle.push.enabled",
                    String.valueOf(List.of(FARO_PUSH, SPARK_PUSH).contains(shuffle)));
            try (PushCluster cluster = new PushCluster(folder, (host, port) -> new ShuffleServer(host, port,
                    shuffle.equals(FARO_PUSH) ? FaroMergeManager::new : RemoteBlockPushResolver::new, null));
                    TestSession session = cluster.start(folder, settings)) {
                runAll(job, session, folder);
            }
            return;
        }
        try (TestSession session = TestSession.on("local[2]", folder, settings)) {
            runAll(job, session, folder);
        }
    }

    private static void runAll(BenchmarkJob job, TestSession session, Path folder) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        job.prepare(session.sql(), folder.resolve("tables"));
        try (BufferedReader turns = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            while (turns.readLine() != null) {
                System.out.println(mapper.writeValueAsString(run(job, session, folder.resolve("local"))));
                // Spark removes the files of a shuffle when no object refers to it.
                System.gc();
            }
        }
    }

    private static Taken run(BenchmarkJob job, TestSession session, Path local) throws Exception {
        PushCluster.Reads reads = new PushCluster.Reads();
        session.rdds().sc().addSparkListener(reads);
        Set<Path> before = shuffleFiles(local);
        ManagementFactory.getMemoryPoolMXBeans().forEach(MemoryPoolMXBean::resetPeakUsage);
        ProcessTree.resetPeaks();
        ProcessTree begin = ProcessTree.now();
        long begun = System.nanoTime();
        String results = job.run(session);
        long nanos = System.nanoTime() - begun;
        ProcessTree end = ProcessTree.now();
        long heap = ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP).mapToLong(pool -> pool.getPeakUsage().getUsed()).sum();
        session.rdds().sc().listenerBus().waitUntilEmpty();
        session.rdds().sc().removeSparkListener(reads);
        Set<Path> files = shuffleFiles(local);
        files.removeAll(before);
        long stored = 0;
        for (Path file : files) {
            stored += Files.exists(file) ? Files.size(file) : 0;
        }
        return new Taken(nanos, end.cpuNanos() - begin.cpuNanos(), end.writtenBytes() - begin.writtenBytes(), stored,
                files.size(), heap, end.peakBytes(), reads.reads(), reads.bytes(), results);
    }

    private static Set<Path> shuffleFiles(Path local) {
        return TestSession.files(local).stream().filter(file -> file.getFileName().toString().startsWith("shuffle"))
                .collect(Collectors.toSet());
    }
}
