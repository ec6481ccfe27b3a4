package dev.faro.flink;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The program of the benchmarks that need Flink: its first argument names a part. */
public final class Benchmarks {
    /** The key of the part among the options. */
    static final String PART = "part";
    private static final String USAGE =
            String.join("\n", JobsBenchmark.USAGE, QueriesBenchmark.USAGE, TinyOutputsBenchmark.USAGE);
    /** The options that each part needs, besides those that all need. */
    private static final Map<String, Set<String>> NEEDED = Map.of(
            "flink-jobs", Set.of("job"), "flink-hybrid", Set.of("job"),
            QueriesBenchmark.PART, Set.of("job", "clients"), TinyOutputsBenchmark.PART, Set.of("partitions"));
    /** Untouched memory may first have to come from the host of a virtual machine; this avoids that while jobs run. */
    private static final List<String> MEMORY =
            List.of("-Xms2g", "-Xmx2g", "-XX:+AlwaysPreTouch", "-XX:MaxDirectMemorySize=2g");

    private Benchmarks() {}

    /** Exits with 0, with 1 if something failed, with 2 for wrong usage. */
    public static void main(String[] args) throws Exception {
        Map<String, String> options = parse(args);
        if (options == null || !options.keySet().containsAll(Set.of("--out", "--dir"))
                || !options.keySet().containsAll(NEEDED.get(options.get(PART)))) {
            System.err.println(USAGE);
            System.exit(2);
        }
        switch (options.get(PART)) {
            case TinyOutputsBenchmark.PART -> new TinyOutputsBenchmark(options).run();
            case QueriesBenchmark.PART -> {
                QueriesBenchmark benchmark = new QueriesBenchmark(options, MEMORY);
                closeAtExit(benchmark);
                benchmark.run();
            }
            default -> {
                JobsBenchmark benchmark = new JobsBenchmark(options);
                closeAtExit(benchmark);
                benchmark.run(MEMORY);
            }
        }
        System.exit(0);
    }

    private static void closeAtExit(AutoCloseable benchmark) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                benchmark.close();
            } catch (Exception e) {
                System.err.println("cannot end: " + e);
            }
        }));
    }

    private static Map<String, String> parse(String[] args) {
        if (args.length % 2 == 0 || !NEEDED.containsKey(args[0])) {
            return null;
        }
        Map<String, String> options = new HashMap<>(Map.of(PART, args[0]));
        for (int i = 1; i < args.length; i += 2) {
            String[] pair = args[i].equals("--case") ? args[i + 1].split("=", 2) : new String[] {args[i], args[i + 1]};
            options.put(pair[0], pair[pair.length - 1]);
        }
        return options;
    }
}
