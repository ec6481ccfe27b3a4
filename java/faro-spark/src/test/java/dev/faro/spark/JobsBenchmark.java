package dev.faro.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * The parts spark-jobs and spark-push of the benchmarks: one job with each of some shuffles, in turns. Each shuffle has a
 * process of its own, so that its compiled code has only seen its own types. While one process runs, all others wait.
 */
public final class JobsBenchmark {
    private static final String USAGE = "spark-jobs|spark-push --out FILE --dir DIR --case job=NAME [--case partitions=N]"
            + " [--case codec=none|lz4|zstd] [--repetitions N] [--plain-mib N] [--tables DIR]";
    private static final int END_SECONDS = 10;
    /** The number of turns before the measured ones, in which compilers take most of the time. */
    private static final int UNMEASURED = 4;
    /**
     * If more turns than those are measured, each process runs at least for so long before. Executors with one processor
     * compile what they run for two minutes.
     */
    private static final Map<String, Double> UNMEASURED_SECONDS = Map.of("spark-jobs", 30.0, "spark-push", 120.0);
    private static final String PART = "part";

    private final Map<String, String> options;
    private final List<String> shuffles;
    private final BenchmarkJob job;
    private final Path folder;
    private final ObjectMapper mapper = new ObjectMapper();
    private final Map<String, Process> processes = new LinkedHashMap<>();
    private final Map<String, BufferedReader> answers = new HashMap<>();
    /** The results of the first run, which all runs have to give. */
    private String expected;

    JobsBenchmark(Map<String, String> options) throws IOException {
        this.options = options;
        shuffles = MeasuredProcess.SHUFFLES.get(options.get(PART));
        job = new BenchmarkJob(options.get("job"), Integer.parseInt(options.getOrDefault("partitions", "256")),
                options.getOrDefault("codec", "lz4"),
                Long.parseLong(options.getOrDefault("--plain-mib", "256")),
                options.getOrDefault("--tables", "out/tpch-0.1"));
        folder = Files.createTempDirectory(Files.createDirectories(Path.of(options.get("--dir"))), "faro-spark-");
    }

    /** Exits with 0, with 1 if something failed, with 2 for wrong usage. */
    public static void main(String[] args) throws Exception {
        Map<String, String> options = parse(args);
        if (options == null || !options.keySet().containsAll(List.of("--out", "--dir", "job"))) {
            System.err.println(USAGE);
            System.exit(2);
        }
        JobsBenchmark benchmark = new JobsBenchmark(options);
        Runtime.getRuntime().addShutdownHook(new Thread(benchmark::end));
        benchmark.run(List.of("-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch"));
    }

    private static Map<String, String> parse(String[] args) {
        if (args.length % 2 == 0 || !MeasuredProcess.SHUFFLES.containsKey(args[0])) {
            return null;
        }
        Map<String, String> options = new HashMap<>(Map.of(PART, args[0]));
        for (int i = 1; i < args.length; i += 2) {
            String[] pair = args[i].equals("--case") ? args[i + 1].split("=", 2) : new String[] {args[i], args[i + 1]};
            options.put(pair[0], pair[pair.length - 1]);
        }
        return options;
    }

    private void start(String shuffle, List<String> memory) throws IOException {
        Path files = Files.createDirectory(folder.resolve(shuffle));
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(memory);
        command.addAll(TestHome.options());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), MeasuredProcess.class.getName(), options.get(PART),
                shuffle, files.toString(), mapper.writeValueAsString(job)));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("SPARK_LOCAL_DIRS", files.resolve("local").toString());
        builder.environment().put("SPARK_LOCAL_IP", "127.0.0.1");
        builder.environment().put("SPARK_HOME", files.resolve("home").toString());
        // Spark looks for it in a build of its own otherwise, and starts no executor if there is none.
        String version = scala.util.Properties.versionNumberString();
        builder.environment().put("SPARK_SCALA_VERSION", version.substring(0, version.lastIndexOf('.')));
        synchronized (this) {
            Process process = builder.start();
            processes.put(shuffle, process);
            answers.put(shuffle, process.inputReader(StandardCharsets.UTF_8));
        }
    }

    private MeasuredProcess.Taken turn(String shuffle) throws IOException {
        String answer = null;
        try {
            Process process = processes.get(shuffle);
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
            answer = answers.get(shuffle).readLine();
        } catch (IOException e) {
            // The process has ended.
        }
        if (answer == null) {
            throw new IOException(shuffle + ": its process ended early");
        }
        return mapper.readValue(answer, MeasuredProcess.Taken.class);
    }

    /** Runs the job once with each shuffle. */
    private Map<String, MeasuredProcess.Taken> allTurns() throws IOException {
        List<String> turns = new ArrayList<>(shuffles);
        // In a fixed order, each shuffle would always run with the leftover work of the same other one.
        Collections.shuffle(turns);
        Map<String, MeasuredProcess.Taken> taken = new HashMap<>();
        for (String shuffle : turns) {
            MeasuredProcess.Taken one = turn(shuffle);
            if (expected != null && !expected.equals(one.results())) {
                throw new IOException(shuffle + " has other results than the shuffles before it");
            }
            expected = one.results();
            taken.put(shuffle, one);
        }
        return taken;
    }

    /** Measures; {@code memory} has options of the virtual machines. */
    void run(List<String> memory) throws IOException {
        for (String shuffle : shuffles) {
            start(shuffle, memory);
        }
        int repetitions = Integer.parseInt(options.getOrDefault("--repetitions", "6"));
        int least = Math.min(UNMEASURED, repetitions);
        double seconds = repetitions > UNMEASURED
                ? UNMEASURED_SECONDS.get(options.get(PART)) * shuffles.size() : 0;
        long begun = System.nanoTime();
        for (int i = 0; i < least || (System.nanoTime() - begun) / 1e9 < seconds; i++) {
            allTurns();
        }
        Map<String, List<MeasuredProcess.Taken>> taken = new HashMap<>();
        for (int i = 0; i < repetitions; i++) {
            allTurns().forEach((shuffle, one) -> taken.computeIfAbsent(shuffle, which -> new ArrayList<>()).add(one));
        }
        for (String shuffle : shuffles) {
            Files.writeString(Path.of(options.get("--out")), line(shuffle, taken.get(shuffle)) + "\n",
                    StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }

    private String line(String subject, List<MeasuredProcess.Taken> all) throws IOException {
        ObjectNode line = mapper.createObjectNode()
                .put(PART, options.get(PART)).put("language", "java").put("subject", subject);
        line.putObject("case").put("job", job.job()).put("partitions", job.partitions()).put("codec", job.codec());
        ArrayNode seconds = line.putArray("seconds");
        all.forEach(taken -> seconds.add(taken.nanos() / 1e9));
        line.put("plain_bytes", job.plainMib() << 20)
                .put("stored_bytes", median(all, MeasuredProcess.Taken::storedBytes))
                .put("files", median(all, MeasuredProcess.Taken::files));
        line.putObject("figures")
                .put("cpu_seconds", median(all, MeasuredProcess.Taken::cpuNanos) / 1e9)
                .put("written_bytes", median(all, MeasuredProcess.Taken::writtenBytes))
                .put("peak_heap_bytes", median(all, MeasuredProcess.Taken::peakHeap))
                .put("peak_memory_bytes", median(all, MeasuredProcess.Taken::peakMemory))
                .put("reads", median(all, MeasuredProcess.Taken::reads))
                .put("mean_read_bytes", median(all, taken -> taken.readBytes() / Math.max(1, taken.reads())));
        return mapper.writeValueAsString(line);
    }

    private static long median(List<MeasuredProcess.Taken> all, ToLongFunction<MeasuredProcess.Taken> of) {
        long[] sorted = all.stream().mapToLong(of).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    /** Ends the processes, and removes the files. */
    void end() {
        synchronized (this) {
            processes.values().forEach(Process::destroy);
            for (Process process : processes.values()) {
                try {
                    if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                        process.destroyForcibly().waitFor();
                    }
                } catch (InterruptedException e) {
                    process.destroyForcibly();
                    Thread.currentThread().interrupt();
                }
            }
        }
        remove(folder);
    }

    /** Removes a folder with all files, as far as that is possible. */
    static void remove(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException | java.io.UncheckedIOException e) {
            System.err.println("cannot remove " + folder + ": " + e);
        }
    }
}
