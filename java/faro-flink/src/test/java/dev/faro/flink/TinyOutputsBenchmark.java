package dev.faro.flink;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * The part flink-tiny of the benchmarks: the life of tiny partitions, as a task and its consumers use them, beside that
 * of Flink's sort shuffle. The subjects take turns in one process.
 */
final class TinyOutputsBenchmark {
    static final String PART = "flink-tiny";
    static final String USAGE =
            PART + " --out FILE --dir DIR --case partitions=N [--case subject=NAME] [--repetitions N]";
    /** Passes before the clock counts, until the compiler is done. */
    private static final int UNMEASURED = 5;
    private static final int OUTPUTS = 200_000;

    private final Map<String, String> options;
    private final int subpartitions;
    private final int outputs;

    TinyOutputsBenchmark(Map<String, String> options) {
        this.options = options;
        subpartitions = Integer.parseInt(options.getOrDefault("partitions", "2"));
        // A pass of each takes a second or two.
        outputs = Math.max(20, OUTPUTS / (options.containsKey("--quick") ? 200 : 20) / subpartitions);
    }

    /** Measures, and adds the lines to the file of results. */
    void run() throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory(Files.createDirectories(Path.of(options.get("--dir"))), "faro-tiny-");
        int repetitions = Integer.parseInt(options.getOrDefault("--repetitions", "6"));
        Map<TinyOutputs.Kind, List<Long>> passes = new EnumMap<>(TinyOutputs.Kind.class);
        Map<TinyOutputs.Kind, List<TinyOutputs.Cost>> costs = new EnumMap<>(TinyOutputs.Kind.class);
        try (TinyOutputs tiny = new TinyOutputs(folder, subpartitions)) {
            List<TinyOutputs.Kind> turn = new ArrayList<>(Arrays.asList(TinyOutputs.Kind.values()));
            turn.removeIf(kind -> options.containsKey("subject") && !kind.toString().equals(options.get("subject")));
            for (int i = -UNMEASURED; i < repetitions; i++) {
                Collections.shuffle(turn);
                for (TinyOutputs.Kind kind : turn) {
                    // The files of one, and their sizes, are looked at outside of the measured time.
                    TinyOutputs.Cost looked = tiny.one(kind, true);
                    List<TinyOutputs.Cost> pass = new ArrayList<>(outputs);
                    long begin = System.nanoTime();
                    for (int output = 0; output < outputs; output++) {
                        pass.add(tiny.one(kind, false));
                    }
                    long nanos = System.nanoTime() - begin;
                    if (i >= 0) {
                        passes.computeIfAbsent(kind, which -> new ArrayList<>()).add(nanos);
                        costs.computeIfAbsent(kind, which -> new ArrayList<>()).addAll(pass);
                        costs.get(kind).add(looked);
                    }
                }
            }
        } finally {
            remove(folder);
        }
        for (TinyOutputs.Kind kind : passes.keySet()) {
            report(kind, passes.get(kind), costs.get(kind));
        }
    }

    private void report(TinyOutputs.Kind kind, List<Long> passes, List<TinyOutputs.Cost> costs) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode line = mapper.createObjectNode()
                .put("part", PART).put("language", "java").put("subject", kind.toString());
        line.putObject("case").put("partitions", subpartitions);
        ArrayNode seconds = line.putArray("seconds");
        passes.forEach(nanos -> seconds.add(nanos / 1e9));
        long bytes = costs.stream().mapToLong(TinyOutputs.Cost::bytes).max().orElseThrow();
        long files = costs.stream().mapToLong(TinyOutputs.Cost::files).max().orElseThrow();
        line.put("plain_bytes", (long) outputs * subpartitions * TinyOutputs.RECORD)
                .put("stored_bytes", bytes).put("files", files);
        double each = Collections.min(passes) / 1e3 / outputs;
        line.putObject("figures")
                .put("microseconds_each", passes.stream().sorted().toList().get(passes.size() / 2) / 1e3 / outputs)
                .put("create_microseconds", median(costs, TinyOutputs.Cost::create))
                .put("write_microseconds", median(costs, TinyOutputs.Cost::write))
                .put("read_microseconds", median(costs, TinyOutputs.Cost::read))
                .put("release_microseconds", median(costs, TinyOutputs.Cost::release));
        Files.writeString(Path.of(options.get("--out")), mapper.writeValueAsString(line) + "\n",
                StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        System.out.printf(Locale.ROOT,
                "%-14s %.1f us each (best pass), medians: create %.0f write %.0f read %.0f release %.0f, %d files, %d bytes%n",
                kind, each, median(costs, TinyOutputs.Cost::create), median(costs, TinyOutputs.Cost::write),
                median(costs, TinyOutputs.Cost::read), median(costs, TinyOutputs.Cost::release), files, bytes);
    }

    private static double median(List<TinyOutputs.Cost> costs, ToLongFunction<TinyOutputs.Cost> of) {
        long[] sorted = costs.stream().mapToLong(of).sorted().toArray();
        return sorted[sorted.length / 2] / 1e3;
    }

    private static void remove(Path folder) throws IOException {
        try (var files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
        }
        Files.delete(folder);
    }
}
