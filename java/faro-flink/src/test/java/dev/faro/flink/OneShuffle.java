package dev.faro.flink;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A cluster with one shuffle. It runs a job for each line of its standard input, and writes the measured values to its
 * standard output. It ends with its input.
 */
final class OneShuffle {
    static final String FARO = "faro";
    static final String SORT = "flink-sort";
    static final String HASH = "flink-hash";
    static final String PIPELINED = "flink-pipelined";
    /** The endings of the names of hybrid shuffles. */
    private static final String SELECTIVE = "-selective";
    private static final String FULL = "-full";

    /**
     * The measured values and the results of a run.
     *
     * @param taken the measured values
     * @param results the number of the job's results, and their hash
     * @param plainBytes the size of the records for Faro's partitions; 0 with other shuffles, which get the same
     *     records
     */
    record Answer(JobMeasure.Taken taken, String results, long plainBytes) {}

    private OneShuffle() {}

    /** Arguments: the shuffle, the folder for files, the case as JSON. */
    public static void main(String[] args) {
        ShuffleProcess.runAndExit(() -> answerAll(args));
    }

    private static void answerAll(String[] args) throws Exception {
        PrintStream answers = System.out;
        // Log output must not get between the answers.
        System.setOut(System.err);
        ObjectMapper mapper = new ObjectMapper();
        JobCase jobCase = mapper.readValue(args[2], JobCase.class);
        Path folder = Path.of(args[1]);
        Cluster.Job job = jobCase.toJob();
        try (Cluster cluster = cluster(args[0], folder, jobCase.slotsOfTaskManager(), 0, jobCase.codec(),
                WatchedFactory.class);
                BufferedReader requests =
                        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            while (requests.readLine() != null) {
                WatchedFactory.reset();
                try (JobMeasure measure = JobMeasure.begin(folder)) {
                    List<String> results = cluster.run(job, jobCase.partitions()).results();
                    JobMeasure.Taken taken = measure.end();
                    answers.println(mapper.writeValueAsString(
                            new Answer(taken, results.size() + " " + results.hashCode(), written())));
                }
            }
        }
    }

    private static long written() {
        return Stream.concat(WatchedFactory.PARTITIONS.stream(), WatchedFactory.HYBRID.stream())
                .mapToLong(partition -> LongStream.of(
                        partition.getResultPartitionBytes().createSnapshot().getSubpartitionBytes()).sum())
                .sum();
    }

    /**
     * Starts a cluster with a shuffle, by its name.
     *
     * @param managedMegabytes the managed memory of a slot, at least
     * @param faro the factory of Faro's shuffles
     */
    static Cluster cluster(String shuffle, Path folder, int slots, int managedMegabytes, String codec,
            Class<? extends FaroShuffleServiceFactory> faro) throws Exception {
        Map<String, String> all = new HashMap<>();
        // Flink's default, if there is enough memory for it.
        all.put("taskmanager.network.sort-shuffle.min-buffers", slots > 100 ? "16" : slots > 4 ? "64" : "512");
        all.put("taskmanager.memory.network.min", "256mb");
        all.put("taskmanager.memory.network.max", "256mb");
        // It is divided by slots, and a slot's operators share it: those that sort or have hash tables fail with little.
        all.put("taskmanager.memory.managed.size", Math.max(256, managedMegabytes * slots) + "mb");
        all.put("taskmanager.network.compression.codec", codec.toUpperCase(Locale.ROOT));
        // With it, Flink 2.3 fails at q18, whatever the shuffle: "The OperatorFactory ... have not been initialized".
        all.put("table.optimizer.adaptive-broadcast-join.strategy", "none");
        all.put("table.optimizer.skewed-join-optimization.strategy", "none");
        if (shuffle.equals(HASH)) {
            all.put("shuffle-service-factory.class", HashShuffleFactory.class.getName());
        }
        if (shuffle.equals(PIPELINED)) {
            all.put("execution.batch-shuffle-mode", "ALL_EXCHANGES_PIPELINED");
            // The adaptive scheduler for batch jobs refuses pipelined exchanges.
            all.put("jobmanager.scheduler", "Default");
        }
        if (shuffle.endsWith(SELECTIVE) || shuffle.endsWith(FULL)) {
            all.put("execution.batch-shuffle-mode", shuffle.endsWith(FULL) ? "ALL_EXCHANGES_HYBRID_FULL"
                    : "ALL_EXCHANGES_HYBRID_SELECTIVE");
        }
        if (shuffle.startsWith(FARO)) {
            all.put("shuffle-service-factory.class", faro.getName());
        }
        return Cluster.start(folder, slots, all);
    }
}
