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
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * The part flink-queries of the benchmarks: clients run small queries one after another, for some seconds, with one
 * shuffle after another in a drawn order. Each shuffle has a separate process, and all others wait.
 */
final class QueriesBenchmark implements AutoCloseable {
    static final String PART = "flink-queries";
    static final String USAGE = PART + " --out FILE --dir DIR --case job=tpch|sums --case clients=N"
            + " [--case partitions=N] [--case codec=none|lz4|zstd] [--repetitions N] [--seconds N] [--subjects A,B] [--tables DIR]";
    private static final List<String> SHUFFLES = List.of(
            "faro-selective", OneShuffle.FARO, "flink-selective", OneShuffle.SORT, OneShuffle.PIPELINED);
    /** Turns before the measured ones, at most: the processor time of a query falls to a sixth while the compiler works. */
    private static final int MOST_UNMEASURED = 32;
    /** A shuffle has settled when this number of turns has at least this part of the processor time of those before. */
    private static final int COMPARED = 4;
    private static final double SETTLED = 0.95;

    private final Map<String, String> options;
    private final List<String> shuffles;
    private final QueriesProcess.Case queries;
    private final Path folder;
    private final Map<String, ShuffleProcess> processes = new LinkedHashMap<>();
    /** The results of the queries so far. */
    private String expected;

    QueriesBenchmark(Map<String, String> options) throws IOException {
        this.options = options;
        shuffles = options.containsKey("--subjects") ? List.of(options.get("--subjects").split(",")) : SHUFFLES;
        queries = new QueriesProcess.Case(options.get("job"), Integer.parseInt(options.get("clients")),
                Integer.parseInt(options.getOrDefault("partitions", "2")), options.getOrDefault("codec", "lz4"),
                Double.parseDouble(options.getOrDefault("--seconds", "5")),
                options.getOrDefault("--tables", "out/tpch-0.01"));
        folder = Files.createTempDirectory(Files.createDirectories(Path.of(options.get("--dir"))), "faro-queries-");
    }

    /** Measures; {@code memory} has options of the virtual machines. */
    void run(List<String> memory) throws IOException {
        for (String shuffle : shuffles) {
            Path files = Files.createDirectory(folder.resolve(shuffle));
            synchronized (this) {
                processes.put(shuffle, new ShuffleProcess(shuffle, files, QueriesProcess.class, queries, memory));
            }
        }
        Map<String, List<QueriesProcess.Answer>> before = new HashMap<>();
        while (!settled(before)) {
            turn(before);
        }
        Map<String, List<QueriesProcess.Answer>> taken = new HashMap<>();
        int repetitions = Integer.parseInt(options.getOrDefault("--repetitions", "4"));
        for (int i = 0; i < repetitions; i++) {
            turn(taken);
        }
        for (String shuffle : shuffles) {
            Files.writeString(Path.of(options.get("--out")), line(shuffle, before.get(shuffle).size(), taken.get(shuffle)) + "\n",
                    StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }

    /** Runs queries with each shuffle, and adds what was measured. */
    private void turn(Map<String, List<QueriesProcess.Answer>> taken) throws IOException {
        List<String> turn = new ArrayList<>(shuffles);
        Collections.shuffle(turn);
        for (String shuffle : turn) {
            QueriesProcess.Answer answer = processes.get(shuffle).run(QueriesProcess.Answer.class);
            if (expected != null && !expected.equals(answer.results())) {
                throw new IOException(shuffle + " has other results than the shuffles before it");
            }
            expected = answer.results();
            taken.computeIfAbsent(shuffle, which -> new ArrayList<>()).add(answer);
        }
    }

    /** Whether the compilers have done most of their work, in each process. */
    private boolean settled(Map<String, List<QueriesProcess.Answer>> before) {
        int turns = before.getOrDefault(shuffles.get(0), List.of()).size();
        return turns >= MOST_UNMEASURED || turns >= 2 * COMPARED && before.values().stream().allMatch(answers -> {
            double last = cpuMilliseconds(answers.subList(turns - COMPARED, turns));
            double earlier = cpuMilliseconds(answers.subList(turns - 2 * COMPARED, turns - COMPARED));
            return last >= SETTLED * earlier;
        });
    }

    private static double cpuMilliseconds(List<QueriesProcess.Answer> answers) {
        return median(answers, answer -> answer.cpuNanos() / 1e6 / answer.queries());
    }

    private String line(String subject, int unmeasured, List<QueriesProcess.Answer> all) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode line = mapper.createObjectNode().put("part", PART).put("language", "java").put("subject", subject);
        line.putObject("case").put("job", queries.job()).put("clients", queries.clients())
                .put("partitions", queries.partitions()).put("codec", queries.codec());
        ArrayNode seconds = line.putArray("seconds");
        all.forEach(answer -> seconds.add(answer.nanos() / 1e9 / answer.queries()));
        line.put("plain_bytes", 0);
        double each = median(all, answer -> answer.nanos() / 1e9 / answer.queries());
        ObjectNode figures = line.putObject("figures")
                .put("unmeasured_turns", unmeasured)
                .put("queries_per_second", 1 / each)
                .put("p50_milliseconds", median(all, answer -> answer.p50Nanos() / 1e6))
                .put("p99_milliseconds", median(all, answer -> answer.p99Nanos() / 1e6))
                .put("cpu_milliseconds_each", cpuMilliseconds(all))
                .put("threads_each", median(all, answer -> (double) answer.threads() / answer.queries()))
                .put("files_each", median(all, answer -> (double) answer.files() / answer.queries()));
        ArrayNode cpu = figures.putArray("cpu_milliseconds_by_turn");
        all.forEach(answer -> cpu.add(cpuMilliseconds(List.of(answer))));
        String text = mapper.writeValueAsString(line);
        System.out.printf(Locale.ROOT, "%s%n", text);
        return text;
    }

    private static double median(List<QueriesProcess.Answer> all, ToDoubleFunction<QueriesProcess.Answer> of) {
        double[] sorted = all.stream().mapToDouble(of).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    /** Ends the processes, and removes the files. */
    @Override
    public void close() {
        synchronized (this) {
            processes.values().forEach(ShuffleProcess::close);
        }
        JobsBenchmark.remove(folder);
    }
}
