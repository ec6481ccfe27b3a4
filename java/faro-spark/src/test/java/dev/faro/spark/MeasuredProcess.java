package dev.faro.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A process that has one kind of shuffle, and runs one job each time when it gets a line. */
final class MeasuredProcess {
    static final String FARO = "faro";
    static final String SPARK = "spark-sort";
    static final String UNCHECKED = "spark-sort-no-checksums";

    /**
     * What a run took.
     *
     * @param nanos from the job's begin to its result
     * @param cpuNanos of all threads of the process
     * @param writtenBytes that the process handed to the system, into files and otherwise
     * @param storedBytes of the shuffle's files after the job
     * @param files how many they are
     * @param peakHeap the most heap in use, with garbage, in bytes
     * @param results of the job
     */
    record Taken(long nanos, long cpuNanos, long writtenBytes, long storedBytes, long files, long peakHeap,
            String results) {}

    private MeasuredProcess() {}

    /** Arguments: the shuffle, a folder for files, the job as JSON. */
    public static void main(String[] arguments) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        BenchmarkJob job = mapper.readValue(arguments[2], BenchmarkJob.class);
        Path folder = Path.of(arguments[1]);
        Map<String, String> settings = new TreeMap<>(job.settings(Runtime.getRuntime().maxMemory()));
        settings.put("spark.local.dir", folder.resolve("local").toString());
        if (arguments[0].equals(FARO)) {
            settings.put("spark.shuffle.manager", FaroShuffleManager.class.getName());
        } else {
            settings.put("spark.shuffle.checksum.enabled", String.valueOf(!arguments[0].equals(UNCHECKED)));
        }
        Files.createDirectories(folder.resolve("local"));
        try (TestSession session = TestSession.on("local[2]", folder, settings);
                BufferedReader turns = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            job.prepare(session.sql(), folder.resolve("tables"));
            while (turns.readLine() != null) {
                System.out.println(mapper.writeValueAsString(run(job, session, folder.resolve("local"))));
                // Spark removes the files of a shuffle when no object refers to it.
                System.gc();
            }
        }
    }

    private static Taken run(BenchmarkJob job, TestSession session, Path local) throws IOException {
        Set<Path> before = new HashSet<>(shuffleFiles(local));
        ManagementFactory.getMemoryPoolMXBeans().forEach(MemoryPoolMXBean::resetPeakUsage);
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long written = written();
        long cpu = system.getProcessCpuTime();
        long begun = System.nanoTime();
        String results = job.run(session);
        long nanos = System.nanoTime() - begun;
        long cpuNanos = system.getProcessCpuTime() - cpu;
        long writtenBytes = written() - written;
        long heap = ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP).mapToLong(pool -> pool.getPeakUsage().getUsed()).sum();
        Set<Path> files = shuffleFiles(local);
        files.removeAll(before);
        long stored = 0;
        for (Path file : files) {
            stored += Files.exists(file) ? Files.size(file) : 0;
        }
        return new Taken(nanos, cpuNanos, writtenBytes, stored, files.size(), heap, results);
    }

    private static Set<Path> shuffleFiles(Path local) throws IOException {
        try (Stream<Path> files = Files.walk(local)) {
            Set<Path> found = new HashSet<>();
            files.filter(file -> file.getFileName().toString().startsWith("shuffle_")).forEach(found::add);
            return found;
        } catch (java.io.UncheckedIOException e) {
            // Spark was removing files.
            return shuffleFiles(local);
        }
    }

    /** What this process has given to the system to write. */
    private static long written() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/io"))) {
            if (line.startsWith("wchar: ")) {
                return Long.parseLong(line.substring("wchar: ".length()));
            }
        }
        return 0;
    }
}
