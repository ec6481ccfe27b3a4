package dev.faro.flink;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.jobgraph.JobGraph;

/**
 * A cluster with one shuffle, whose clients run small queries for some seconds for each line of its standard input. It
 * writes the measured values to its standard output, and ends with its input.
 */
final class QueriesProcess {
    /** The number of operators of the largest query, at most. */
    private static final int SLOTS_OF_SUBTASK = 12;
    /** With pipelined exchanges, a slot has several operators of a query of TPC-H: 4 are too few. */
    private static final int MANAGED_MEGABYTES = 12;
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    /**
     * Queries that are measured.
     *
     * @param job {@code tpch} for q3 and q5 in turns, or {@code sums}, which exchanges one record for each source
     * @param clients the number of queries at one time
     * @param partitions the parallelism of each query
     * @param seconds the time for which they run
     * @param tables the folder of TPC-H's tables
     */
    record Case(String job, int clients, int partitions, String codec, double seconds, String tables) {
        List<Cluster.Job> jobs() {
            return switch (job) {
                case "tpch" -> {
                    Tpch tpch = new Tpch(Path.of(tables));
                    yield List.of(tpch.job("q3"), tpch.job("q5"));
                }
                case "sums" -> List.of(environment -> environment.fromSequence(1, partitions)
                        .map(number -> Tuple2.of(number, 1L)).returns(Types.TUPLE(Types.LONG, Types.LONG))
                        .keyBy(pair -> pair.f0, Types.LONG)
                        .sum(1)
                        .map(pair -> Tuple2.of(pair.f0 % 2, pair.f1)).returns(Types.TUPLE(Types.LONG, Types.LONG))
                        .keyBy(pair -> pair.f0, Types.LONG)
                        .sum(1)
                        .map(Tuple2::toString).returns(Types.STRING));
                default -> throw new IllegalArgumentException("expected tpch or sums, found " + job);
            };
        }
    }

    /**
     * The measured values.
     *
     * @param nanos the time until the last query has ended
     * @param cpuNanos the processor time of all threads of this process, clients, masters, tasks and collectors, except the
     *     compilers: these are done at some time, and differ from run to run
     * @param compilerNanos the processor time of the compilers
     * @param p50Nanos the median time of a query
     * @param p99Nanos the time within which 99 of 100 queries end
     * @param threads the number of threads that were started
     * @param files the number of files that were made in the folders of the shuffle
     * @param results the number of results of each kind of query, and their hashes
     */
    record Answer(int queries, long nanos, long cpuNanos, long compilerNanos, long p50Nanos, long p99Nanos, long threads, long files,
            String results) {}

    private final Cluster cluster;
    private final Case queries;
    private final List<JobGraph> graphs = new ArrayList<>();

    private QueriesProcess(Cluster cluster, Case queries) {
        this.cluster = cluster;
        this.queries = queries;
        // Planned once: what is measured is how a query runs.
        queries.jobs().forEach(job -> graphs.add(cluster.graph(job, queries.partitions())));
    }

    /** Arguments: the shuffle, the folder for files, the case as JSON. */
    public static void main(String[] args) {
        ShuffleProcess.runAndExit(() -> answerAll(args));
    }

    private static void answerAll(String[] args) throws Exception {
        PrintStream answers = System.out;
        // Log output must not get between the answers.
        System.setOut(System.err);
        ObjectMapper mapper = new ObjectMapper();
        Case queries = mapper.readValue(args[2], Case.class);
        Path folder = Path.of(args[1]);
        // So many that no query waits for one. With hybrid exchanges each task of a query needs a slot of its own.
        int slots = SLOTS_OF_SUBTASK * queries.clients() * queries.partitions() / Cluster.TASK_MANAGERS;
        try (Cluster cluster = OneShuffle.cluster(args[0], folder, slots, MANAGED_MEGABYTES, queries.codec(),
                        FaroShuffleServiceFactory.class);
                MadeFiles made = new MadeFiles(folder);
                BufferedReader requests =
                        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            QueriesProcess process = new QueriesProcess(cluster, queries);
            while (requests.readLine() != null) {
                answers.println(mapper.writeValueAsString(process.run(made)));
            }
        }
    }

    private Answer run(MadeFiles made) throws Exception {
        System.gc();
        long threads = ManagementFactory.getThreadMXBean().getTotalStartedThreadCount();
        long files = made.count();
        long cpu = SYSTEM.getProcessCpuTime();
        long compilers = compilerNanos();
        long begin = System.nanoTime();
        long until = begin + (long) (queries.seconds() * 1e9);
        ExecutorService clients = Executors.newFixedThreadPool(queries.clients());
        List<Future<Client>> running = new ArrayList<>();
        for (int i = 0; i < queries.clients(); i++) {
            int first = i;
            running.add(clients.submit(() -> new Client().run(first, until)));
        }
        List<Long> nanos = new ArrayList<>();
        String[] results = new String[graphs.size()];
        for (Future<Client> client : running) {
            Client ended = client.get();
            nanos.addAll(ended.nanos);
            for (int i = 0; i < results.length; i++) {
                results[i] = same(results[i], ended.results[i]);
            }
        }
        long took = System.nanoTime() - begin;
        clients.shutdown();
        nanos.sort(null);
        long compiled = compilerNanos() - compilers;
        return new Answer(nanos.size(), took, SYSTEM.getProcessCpuTime() - cpu - compiled, compiled,
                nanos.get(nanos.size() / 2),
                nanos.get((int) Math.ceil(nanos.size() * 0.99) - 1),
                ManagementFactory.getThreadMXBean().getTotalStartedThreadCount() - threads - queries.clients(),
                made.count() - files, String.join(", ", results));
    }

    /** The processor time of the compilers so far, as the system tells it: Java does not list their threads. */
    private static long compilerNanos() throws IOException {
        long sum = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path thread : threads) {
                sum += compilerNanos(thread);
            }
        }
        return sum;
    }

    private static long compilerNanos(Path thread) {
        try {
            return Files.readString(thread.resolve("comm")).matches("C[12] Compiler.*\\s*")
                    ? Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[0]) : 0;
        } catch (IOException e) {
            // The thread has ended. Those of the compilers do not.
            return 0;
        }
    }

    private static String same(String one, String other) throws IOException {
        if (one != null && other != null && !one.equals(other)) {
            throw new IOException("a query has other results than before: " + one + ", " + other);
        }
        return one == null ? other : one;
    }

    /** A client, which runs one query after another. */
    private final class Client {
        final List<Long> nanos = new ArrayList<>();
        final String[] results = new String[graphs.size()];

        Client run(int first, long until) throws Exception {
            // All kinds of queries, even if the time is short.
            for (int i = 0; i < graphs.size() || System.nanoTime() < until; i++) {
                int which = (first + i) % graphs.size();
                long begin = System.nanoTime();
                List<String> found = cluster.run(graphs.get(which));
                nanos.add(System.nanoTime() - begin);
                results[which] = same(results[which], found.size() + " " + found.hashCode());
            }
            return this;
        }
    }

    /** Counts the files that are made in the folders of a shuffle, as the system tells it. */
    private static final class MadeFiles implements AutoCloseable {
        private final WatchService watch = FileSystems.getDefault().newWatchService();
        private final AtomicLong made = new AtomicLong();

        MadeFiles(Path folder) throws IOException {
            try (DirectoryStream<Path> all = Files.newDirectoryStream(folder, "*shuffle*")) {
                for (Path each : all) {
                    each.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
                }
            }
            Thread counter = new Thread(this::countAll, "made-files");
            counter.setDaemon(true);
            counter.start();
        }

        private void countAll() {
            try {
                while (true) {
                    WatchKey key = watch.take();
                    for (WatchEvent<?> event : key.pollEvents()) {
                        if (event.kind() == StandardWatchEventKinds.OVERFLOW) {
                            throw new IllegalStateException("files were not counted");
                        }
                        made.addAndGet(event.count());
                    }
                    key.reset();
                }
            } catch (InterruptedException | java.nio.file.ClosedWatchServiceException e) {
                // The end.
            } catch (IllegalStateException e) {
                e.printStackTrace();
                Runtime.getRuntime().halt(1);
            }
        }

        long count() {
            return made.get();
        }

        @Override
        public void close() throws IOException {
            watch.close();
        }
    }
}
