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
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * The part flink-jobs of the benchmarks: one job with Faro's shuffle and with Flink's own, in turns. Each shuffle has a
 * separate process, as in a real cluster, so that its compiled code has only seen its own types. While one process
 * runs, all others wait, so that runs that are compared are close in time. The first runs of each are not measured,
 * because compilers take a third of their time.
 */
final class JobsBenchmark implements AutoCloseable {
    static final String USAGE = "flink-jobs|flink-hybrid --out FILE --dir DIR --case job=NAME [--case partitions=N]"
            + " [--case codec=none|lz4|zstd] [--repetitions N] [--plain-mib N] [--tables DIR]";
    /** The shuffles that are compared, by parts of the benchmarks. */
    private static final Map<String, List<String>> SHUFFLES = Map.of(
            "flink-jobs", List.of(OneShuffle.FARO, OneShuffle.SORT, OneShuffle.HASH),
            "flink-hybrid", List.of("faro-selective", "flink-selective", "faro-full", "flink-full", OneShuffle.FARO,
                    OneShuffle.SORT));
    /** The number of runs before the measured ones; or half of the measured ones, if that is more. */
    private static final int UNMEASURED = 5;

    private final Map<String, String> options;
    private final String part;
    private final List<String> shuffles;
    private final JobCase jobCase;
    private final Map<String, ShuffleProcess> processes = new LinkedHashMap<>();
    private final Path folder;

    JobsBenchmark(Map<String, String> options) throws IOException {
        this.options = options;
        part = options.getOrDefault(Benchmarks.PART, "flink-jobs");
        shuffles = SHUFFLES.get(part);
        jobCase = new JobCase(options.get("job"), Integer.parseInt(options.getOrDefault("partitions", "4")),
                options.getOrDefault("codec", "lz4"), Long.parseLong(options.getOrDefault("--plain-mib", "256")),
                options.getOrDefault("--tables", "out/tpch-0.1"));
        folder = Files.createTempDirectory(Files.createDirectories(Path.of(options.get("--dir"))), "faro-flink-");
    }

    /** Measures; {@code memory} has options of the virtual machines. */
    void run(List<String> memory) throws IOException {
        for (String shuffle : shuffles) {
            Path files = Files.createDirectory(folder.resolve(shuffle));
            synchronized (this) {
                processes.put(shuffle, new ShuffleProcess(shuffle, files, OneShuffle.class, jobCase, memory));
            }
        }
        Map<String, List<JobMeasure.Taken>> taken = new HashMap<>();
        int repetitions = Integer.parseInt(options.getOrDefault("--repetitions", "6"));
        List<String> turn = new ArrayList<>(shuffles);
        long plainBytes = 0;
        String expected = null;
        for (int i = -Math.max(UNMEASURED, repetitions / 2); i < repetitions; i++) {
            // In a fixed order, each shuffle would always run with the leftover work of the same other one.
            Collections.shuffle(turn);
            for (String shuffle : turn) {
                OneShuffle.Answer answer = processes.get(shuffle).run(OneShuffle.Answer.class);
                plainBytes = Math.max(plainBytes, answer.plainBytes());
                if (expected != null && !expected.equals(answer.results())) {
                    throw new IOException(shuffle + " has other results than the shuffles before it");
                }
                expected = answer.results();
                if (i >= 0) {
                    taken.computeIfAbsent(shuffle, which -> new ArrayList<>()).add(answer.taken());
                }
            }
        }
        for (String shuffle : shuffles) {
            Files.writeString(Path.of(options.get("--out")), line(shuffle, taken.get(shuffle), plainBytes) + "\n",
                    StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }

    private String line(String subject, List<JobMeasure.Taken> all, long plainBytes) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode line = mapper.createObjectNode()
                .put("part", part).put("language", "java").put("subject", subject);
        line.putObject("case")
                .put("job", jobCase.job()).put("partitions", jobCase.partitions()).put("codec", jobCase.codec());
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

    /** Ends the processes, and removes the files. */
    @Override
    public void close() {
        synchronized (this) {
            processes.values().forEach(ShuffleProcess::close);
        }
        remove(folder);
    }

    /** Removes a folder with all files, as far as that is possible. */
    static void remove(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            System.err.println("cannot remove " + folder + ": " + e);
        }
    }
}
