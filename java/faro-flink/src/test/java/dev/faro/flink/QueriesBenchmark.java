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
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The part flink-queries of the benchmarks: clients run small queries one after another, for some seconds, with one
 * shuffle after another in a drawn order. Each shuffle has a separate process, and all others wait.
 */
class QueriesBenchmark implements AutoCloseable {
    static final String PART = "flink-queries";
    static final String USAGE = PART + " --out FILE --dir DIR --case job=tpch|sums --case clients=N"
            + " [--case partitions=N] [--case codec=none|lz4|zstd] [--repetitions N] [--seconds N] [--subjects A,B] [--tables DIR]";
    private static final String FLINK_SELECTIVE = "flink-selective";
    private static final List<String> SHUFFLES = List.of(
            "faro-selective", OneShuffle.FARO, FLINK_SELECTIVE, OneShuffle.SORT, OneShuffle.PIPELINED);
    /**
     * While the compilers work, the processor time of a query, without theirs, falls to a fraction. Warming ends when the last {@code COMPARED}
     * turns of each shuffle take at least {@code WARM} of the processor time of the {@code COMPARED} turns before them, or
     * after {@code MOST_WARMING} turns.
     */
    private static final int MOST_WARMING = 32;
    /**
     * Flink 2.3.0 ends the process of a TaskManager when a task closes a partition of Flink's own hybrid shuffle while
     * another thread releases it ({@code TieredStorageMemoryManagerImpl.release}), with {@code FATAL}. Such a process is
     * started again; a shuffle whose process ends this often is left out.
     */
    private static final int MOST_ENDS = 4;
    /** The exit code of Flink's {@code FatalExitExceptionHandler}, -17. */
    private static final int FATAL = 239;
    private static final int COMPARED = 4;
    private static final double WARM = 0.95;
    /** The processor time of a query in a turn. */
    private static final ToDoubleFunction<QueriesProcess.Answer> BY_TURN =
            answer -> answer.cpuNanos() / 1e6 / answer.queries();
    private static final Comparator<QueriesProcess.Answer> BY_CPU = Comparator.comparingDouble(BY_TURN);
    /** The shuffles of Flink's own with the same kind of exchanges. Turns drift together, so their ratio differs less. */
    private static final Map<String, String> PEERS =
            Map.of(OneShuffle.FARO, OneShuffle.SORT, "faro-selective", FLINK_SELECTIVE);

    private final Map<String, String> options;
    /** Those that are measured. */
    private final List<String> shuffles;
    private final QueriesProcess.Case queries;
    private final Path folder;
    private final List<String> memory;
    private final Map<String, ShuffleProcess> processes = new LinkedHashMap<>();
    /** How often a process ended by Flink's fault, by shuffle. */
    private final Map<String, Integer> ends = new HashMap<>();
    /** The results of the queries so far. */
    private String expected;
    private int turns;
    private boolean closed;

    /**
     * Begins without a process.
     *
     * @param memory options of the virtual machines
     */
    QueriesBenchmark(Map<String, String> options, List<String> memory) throws IOException {
        this.options = options;
        this.memory = memory;
        shuffles = new ArrayList<>(
                options.containsKey("--subjects") ? List.of(options.get("--subjects").split(",")) : SHUFFLES);
        queries = new QueriesProcess.Case(options.get("job"), Integer.parseInt(options.get("clients")),
                Integer.parseInt(options.getOrDefault("partitions", "2")), options.getOrDefault("codec", "lz4"),
                Double.parseDouble(options.getOrDefault("--seconds", "5")),
                options.getOrDefault("--tables", "out/tpch-0.01"));
        folder = Files.createTempDirectory(Files.createDirectories(Path.of(options.get("--dir"))), "faro-queries-");
    }

    void run() throws IOException {
        for (String shuffle : shuffles) {
            Files.createDirectory(folder.resolve(shuffle));
            start(shuffle);
        }
        Map<String, List<QueriesProcess.Answer>> warming = new HashMap<>();
        while (!shuffles.stream().allMatch(shuffle -> isWarm(warming.getOrDefault(shuffle, List.of())))) {
            turn(warming);
        }
        Map<String, List<QueriesProcess.Answer>> taken = new HashMap<>();
        int warmingTurns = turns;
        int repetitions = Integer.parseInt(options.getOrDefault("--repetitions", "4"));
        for (int i = 0; i < repetitions; i++) {
            turn(taken);
        }
        for (String shuffle : shuffles) {
            Files.writeString(Path.of(options.get("--out")), line(shuffle, warmingTurns, taken) + "\n",
                    StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }

    private synchronized void start(String shuffle) throws IOException {
        if (closed) {
            throw new IOException("the benchmark was ended");
        }
        processes.put(shuffle, new ShuffleProcess(
                shuffle, folder.resolve(shuffle), QueriesProcess.class, queries, memory));
    }

    /** The process of a shuffle. */
    ShuffleProcess process(String shuffle) {
        return processes.get(shuffle);
    }

    /** Whether a process ended by the fault of Flink's own hybrid shuffle. */
    boolean isFlinksFault(String shuffle, ShuffleProcess.EndedException end) {
        return shuffle.equals(FLINK_SELECTIVE) && end.exitCode() == FATAL;
    }

    /** Is called after each turn, with their number. */
    void turned(int number) {}

    /** Runs queries with each shuffle, and adds what was measured. A turn in which a process ended is repeated. */
    private void turn(Map<String, List<QueriesProcess.Answer>> taken) throws IOException {
        Map<String, QueriesProcess.Answer> answers = new HashMap<>();
        while (!shuffles.isEmpty() && !answers.keySet().containsAll(shuffles)) {
            answers.clear();
            List<String> order = new ArrayList<>(shuffles);
            Collections.shuffle(order);
            for (String shuffle : order) {
                try {
                    answers.put(shuffle, answer(shuffle));
                } catch (ShuffleProcess.EndedException e) {
                    replace(shuffle, e);
                    break;
                }
            }
        }
        shuffles.forEach(shuffle -> taken.computeIfAbsent(shuffle, which -> new ArrayList<>()).add(answers.get(shuffle)));
        turns++;
        turned(turns);
    }

    private QueriesProcess.Answer answer(String shuffle) throws IOException {
        QueriesProcess.Answer answer = processes.get(shuffle).run(QueriesProcess.Answer.class);
        if (expected != null && !expected.equals(answer.results())) {
            throw new IOException(shuffle + " has other results than the shuffles before it");
        }
        expected = answer.results();
        return answer;
    }

    /** Starts a process again, and runs it for as many turns as the others had; or leaves its shuffle out. */
    private void replace(String shuffle, ShuffleProcess.EndedException end) throws IOException {
        ShuffleProcess.EndedException last = end;
        while (true) {
            if (!isFlinksFault(shuffle, last)) {
                throw last;
            }
            System.err.println(last.getMessage());
            synchronized (this) {
                processes.remove(shuffle).close();
            }
            if (ends.merge(shuffle, 1, Integer::sum) == MOST_ENDS) {
                shuffles.remove(shuffle);
                return;
            }
            start(shuffle);
            try {
                for (int i = 0; i < turns; i++) {
                    answer(shuffle);
                }
                return;
            } catch (ShuffleProcess.EndedException again) {
                last = again;
            }
        }
    }

    /** Whether the compilers of a process have done most of their work. */
    private static boolean isWarm(List<QueriesProcess.Answer> answers) {
        int turns = answers.size();
        if (turns >= MOST_WARMING || turns < 2 * COMPARED) {
            return turns >= MOST_WARMING;
        }
        double last = cpuMilliseconds(answers.subList(turns - COMPARED, turns));
        double earlier = cpuMilliseconds(answers.subList(turns - 2 * COMPARED, turns - COMPARED));
        return last >= WARM * earlier;
    }

    private static double cpuMilliseconds(List<QueriesProcess.Answer> answers) {
        return median(answers, BY_TURN);
    }

    private String line(String subject, int warmingTurns, Map<String, List<QueriesProcess.Answer>> taken)
            throws IOException {
        List<QueriesProcess.Answer> all = taken.get(subject);
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode line = mapper.createObjectNode().put("part", PART).put("language", "java").put("subject", subject);
        line.putObject("case").put("job", queries.job()).put("clients", queries.clients())
                .put("partitions", queries.partitions()).put("codec", queries.codec());
        ArrayNode seconds = line.putArray("seconds");
        all.forEach(answer -> seconds.add(answer.nanos() / 1e9 / answer.queries()));
        line.put("plain_bytes", 0);
        double each = median(all, answer -> answer.nanos() / 1e9 / answer.queries());
        ObjectNode figures = line.putObject("figures");
        figures
                .put("warming_turns", warmingTurns)
                .put("queries_per_second", 1 / each)
                .put("p50_milliseconds", median(all, answer -> answer.p50Nanos() / 1e6))
                .put("p99_milliseconds", median(all, answer -> answer.p99Nanos() / 1e6))
                .put("compiler_milliseconds_each", median(all, answer -> answer.compilerNanos() / 1e6 / answer.queries()))
                .put("cpu_milliseconds_each", cpuMilliseconds(all))
                .put("cpu_milliseconds_least", cpuMilliseconds(List.of(Collections.min(all, BY_CPU))))
                .put("cpu_milliseconds_most", cpuMilliseconds(List.of(Collections.max(all, BY_CPU))))
                .put("threads_each", median(all, answer -> (double) answer.threads() / answer.queries()))
                .put("files_each", median(all, answer -> (double) answer.files() / answer.queries()))
                .put("ended_early", ends.getOrDefault(subject, 0));
        String peerSubject = PEERS.getOrDefault(subject, "");
        if (ends.getOrDefault(peerSubject, 0) == MOST_ENDS) {
            figures.put("peer_left_out", 1);
        } else if (shuffles.contains(peerSubject)) {
            List<QueriesProcess.Answer> peer = taken.get(peerSubject);
            double[] ratios = IntStream.range(0, all.size())
                    .mapToDouble(turn -> BY_TURN.applyAsDouble(all.get(turn)) / BY_TURN.applyAsDouble(peer.get(turn)))
                    .sorted().toArray();
            figures.put("cpu_ratio", middle(ratios)).put("cpu_ratio_least", ratios[0])
                    .put("cpu_ratio_most", ratios[ratios.length - 1]);
        }
        String text = mapper.writeValueAsString(line);
        System.out.printf(Locale.ROOT, "%s%n", text);
        return text;
    }

    private static double median(List<QueriesProcess.Answer> all, ToDoubleFunction<QueriesProcess.Answer> of) {
        return middle(all.stream().mapToDouble(of).sorted().toArray());
    }

    private static double middle(double[] sorted) {
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    /** Ends the processes, and removes the files. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            processes.values().forEach(ShuffleProcess::close);
        }
        JobsBenchmark.remove(folder);
    }
}
