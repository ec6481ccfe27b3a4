package dev.faro.flink;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.runtime.client.JobExecutionException;

/**
 * The part flink-jobs of the benchmarks: one job with Flink's own shuffles and with Faro's, in turns. Each turn a cluster
 * is made anew, runs the job once, and then some times that are measured, but in the first turn of each: who comes first
 * has code compiled that all use, and compilers take a third of the time at first.
 */
public final class JobsBenchmark {
    private static final String USAGE = "flink-jobs --out FILE --dir DIR --case job=NAME [--case partitions=N]"
            + " [--case codec=none|lz4|zstd] [--repetitions N] [--plain-mib N] [--tables DIR] [--subject NAME]";
    private static final String FARO = "faro";
    private static final String HASH = "flink-hash";
    private static final List<String> SUBJECTS = List.of(FARO, "flink-sort", HASH);
    private static final int TASK_MANAGERS = 2;
    /** Runs of a turn that are measured. */
    private static final int MEASURED = 3;

    private final Map<String, String> options;
    private final Path folder;
    private final String name;
    private final int parallelism;
    private final String codec;
    private final Cluster.Job job;
    private long plainBytes;

    JobsBenchmark(Map<String, String> options, Path folder) {
        this.options = options;
        this.folder = folder;
        this.name = options.get("job");
        this.parallelism = Integer.parseInt(options.getOrDefault("partitions", "4"));
        this.codec = options.getOrDefault("codec", "lz4");
        Path tables = Path.of(options.getOrDefault("--tables", "out/tpch-0.1"));
        this.job = BenchmarkJobs.job(
                name, Long.parseLong(options.getOrDefault("--plain-mib", "256")) << 20, new Tpch(tables));
    }

    /** Exits with 0, with 1 if something failed, with 2 for wrong usage. */
    public static void main(String[] args) throws Exception {
        Map<String, String> options = parse(args);
        if (options == null || !options.keySet().containsAll(List.of("--out", "--dir", "job"))) {
            System.err.println(USAGE);
            System.exit(2);
        }
        Path folder = Files.createTempDirectory(Files.createDirectories(Path.of(options.get("--dir"))), "faro-flink-");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(folder)));
        new JobsBenchmark(options, folder).run();
        // Some of Flink's threads stay.
        System.exit(0);
    }

    private static Map<String, String> parse(String[] args) {
        if (args.length % 2 == 0 || !args[0].equals("flink-jobs")) {
            return null;
        }
        Map<String, String> options = new HashMap<>();
        for (int i = 1; i < args.length; i += 2) {
            String[] pair = args[i].equals("--case") ? args[i + 1].split("=", 2) : new String[] {args[i], args[i + 1]};
            options.put(pair[0], pair[pair.length - 1]);
        }
        return options;
    }

    void run() throws Exception {
        List<String> subjects = new ArrayList<>(SUBJECTS);
        if (options.containsKey("--subject")) {
            subjects.retainAll(List.of(options.get("--subject").split(",")));
        }
        Map<String, List<JobMeasure.Taken>> taken = new LinkedHashMap<>();
        List<String> expected = null;
        int repetitions = Integer.parseInt(options.getOrDefault("--repetitions", "5"));
        for (int i = -1; i < repetitions; i++) {
            Collections.rotate(subjects, 1);
            for (String subject : subjects) {
                List<String> found = repeat(subject, i < 0 ? null : taken);
                if (expected != null && !expected.equals(found)) {
                    throw new IllegalStateException(subject + " has other results than those before it");
                }
                expected = found;
            }
        }
        for (Map.Entry<String, List<JobMeasure.Taken>> entry : taken.entrySet()) {
            Files.writeString(Path.of(options.get("--out")), line(entry.getKey(), entry.getValue()) + "\n",
                    StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }

    /** Runs the job in a new cluster, and keeps what each run took behind the first, unless nothing is kept. */
    private List<String> repeat(String subject, Map<String, List<JobMeasure.Taken>> kept) throws Exception {
        Path files = Files.createDirectories(folder.resolve(subject));
        int slots = (parallelism + TASK_MANAGERS - 1) / TASK_MANAGERS;
        try (Cluster cluster = cluster(subject, files, slots)) {
            List<String> results = cluster.run(job, parallelism).results();
            plainBytes = Math.max(plainBytes, written());
            for (int i = 0; i < MEASURED; i++) {
                try (JobMeasure measure = JobMeasure.begin(files)) {
                    cluster.run(job, parallelism);
                    JobMeasure.Taken taken = measure.end();
                    if (kept != null) {
                        kept.computeIfAbsent(subject, which -> new ArrayList<>()).add(taken);
                    }
                }
            }
            return results;
        } catch (JobExecutionException e) {
            throw new IllegalStateException(subject + ": a job failed", e);
        }
    }

    /** What the last job gave to Faro's partitions: the others' get the same. */
    private static long written() {
        return WatchedFactory.PARTITIONS.stream()
                .mapToLong(partition -> LongStream.of(
                        partition.getResultPartitionBytes().createSnapshot().getSubpartitionBytes()).sum())
                .sum();
    }

    private Cluster cluster(String subject, Path files, int slots) throws Exception {
        Map<String, String> all = new HashMap<>();
        // Flink's default, where there is memory for it.
        all.put("taskmanager.network.sort-shuffle.min-buffers", slots > 4 ? "64" : "512");
        all.put("taskmanager.memory.network.min", "256mb");
        all.put("taskmanager.memory.network.max", "256mb");
        all.put("taskmanager.memory.managed.size", "256mb");
        all.put("taskmanager.network.compression.codec", codec.toUpperCase(Locale.ROOT));
        // With it Flink 2.3 fails at q18, with any shuffle: "The OperatorFactory ... have not been initialized".
        all.put("table.optimizer.adaptive-broadcast-join.strategy", "none");
        all.put("table.optimizer.skewed-join-optimization.strategy", "none");
        if (subject.equals(HASH)) {
            all.put("shuffle-service-factory.class", HashShuffleFactory.class.getName());
        }
        WatchedFactory.reset();
        return subject.equals(FARO) ? Cluster.faro(files, slots, all) : Cluster.stock(files, slots, all);
    }

    private String line(String subject, List<JobMeasure.Taken> all) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode line = mapper.createObjectNode()
                .put("part", "flink-jobs").put("language", "java").put("subject", subject);
        line.putObject("case").put("job", name).put("partitions", parallelism).put("codec", codec);
        ArrayNode seconds = line.putArray("seconds");
        all.forEach(taken -> seconds.add(taken.nanos() / 1e9));
        line.put("plain_bytes", plainBytes)
                .put("stored_bytes", median(all, JobMeasure.Taken::storedBytes))
                .put("index_bytes", median(all, JobMeasure.Taken::indexBytes))
                .put("files", median(all, JobMeasure.Taken::files));
        line.putObject("figures")
                .put("cpu_seconds", median(all, JobMeasure.Taken::cpuNanos) / 1e9)
                .put("peak_heap_bytes", median(all, JobMeasure.Taken::peakHeap))
                .put("peak_direct_bytes", median(all, JobMeasure.Taken::peakDirect));
        return mapper.writeValueAsString(line);
    }

    private static long median(List<JobMeasure.Taken> all, ToLongFunction<JobMeasure.Taken> of) {
        long[] sorted = all.stream().mapToLong(of).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    private static void remove(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            System.err.println("cannot remove " + folder + ": " + e);
        }
    }
}
