package dev.faro.flink;

import dev.faro.hybrid.HybridFigures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;

/**
 * Measures what was published of hybrid shuffles as far as a small machine can, and puts the tables into
 * {@code docs/flink-hybrid.md}: bytes on the disk, the schedule of waiting tasks, the least network memory, and Flink's
 * requests for buffers, which Faro's partitions do not make.
 */
public final class HybridEvaluation {
    private static final Path PAGE = Path.of("docs/flink-hybrid.md");
    private static final String FULL = "ALL_EXCHANGES_HYBRID_FULL";
    private static final String SELECTIVE = "ALL_EXCHANGES_HYBRID_SELECTIVE";
    private static final String BLOCKING = "ALL_EXCHANGES_BLOCKING";
    private static final String MODE = "execution.batch-shuffle-mode";
    private static final String CONSUME = "jobmanager.partition.hybrid.partition-data-consume-constraint";
    private static final int[] MEMORIES = {4, 16, 64, 256};
    private static final int DISK_PARALLELISM = 2;
    private static final int RECORDS = 640_000;
    private static final int RECORD = 100;
    private static final int SLOW_MILLISECONDS = 4_000;
    private static final int FAST_MILLISECONDS = 1_000;
    private static final int CONSUME_MILLISECONDS = 2_000;
    private static final int SKEWED_RECORDS = 100;

    private final Path folder;

    private HybridEvaluation(Path folder) {
        this.folder = folder;
    }

    /** Takes a folder for files, and the names of tables or none for all; runs in the folder of the repository. */
    public static void main(String[] arguments) {
        ShuffleProcess.runAndExit(() -> evaluate(arguments));
    }

    private interface Table {
        String make() throws Exception;
    }

    private static void evaluate(String[] arguments) throws Exception {
        Path folder = Files.createTempDirectory(Files.createDirectories(Path.of(arguments[0])), "faro-evaluation-");
        HybridEvaluation evaluation = new HybridEvaluation(folder);
        Map<String, Table> tables = new LinkedHashMap<>();
        tables.put("makespan", evaluation::makespan);
        tables.put("disk", evaluation::disk);
        tables.put("least", evaluation::leastMemory);
        tables.put("batches", HybridEvaluation::batches);
        List<String> wanted = List.of(arguments).subList(1, arguments.length);
        try {
            if (!tables.keySet().containsAll(wanted)) {
                throw new IllegalArgumentException("expected some of " + tables.keySet() + ", found " + wanted);
            }
            if (!wanted.isEmpty()) {
                tables.keySet().retainAll(wanted);
            }
            for (Map.Entry<String, Table> table : tables.entrySet()) {
                place(table.getKey(), table.getValue().make());
            }
        } finally {
            JobsBenchmark.remove(folder);
        }
    }

    /** Puts a table into the page. */
    private static void place(String name, String table) throws IOException {
        String page = Files.readString(PAGE);
        Matcher place = Pattern.compile("(<!-- table " + name + " -->\n).*?(<!-- end -->)", Pattern.DOTALL).matcher(page);
        if (!place.find()) {
            throw new IOException("expected a place for the table " + name + " in " + PAGE);
        }
        Files.writeString(PAGE, place.replaceFirst("$1\n" + Matcher.quoteReplacement(table) + "\n$2"));
    }

    private Path newFolder(String name) throws IOException {
        Path made = folder.resolve(name);
        JobsBenchmark.remove(Files.createDirectories(made));
        return Files.createDirectories(made);
    }

    private static String row(Object... cells) {
        StringBuilder row = new StringBuilder("|");
        for (Object cell : cells) {
            row.append(' ').append(cell).append(" |");
        }
        System.err.println(row);
        return row.append('\n').toString();
    }

    private static String head(Object... cells) {
        return row(cells) + "|---".repeat(cells.length) + "|\n";
    }

    // Bytes on the disk, by mode and memory.

    private static DataStream<String> moved(StreamExecutionEnvironment environment) {
        return environment.fromSequence(1, RECORDS).map(number -> new byte[RECORD - Long.BYTES])
                .returns(PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO)
                .rebalance()
                .flatMap((byte[] record, Collector<String> out) -> {}).returns(Types.STRING);
    }

    private String disk() throws Exception {
        StringBuilder table = new StringBuilder(head("mode", "consumers", "memory", "written by Faro",
                "of Faro's bytes read from memory", "files of Flink's own"));
        for (String mode : List.of(FULL, SELECTIVE)) {
            for (boolean early : new boolean[] {true, false}) {
                for (int memory : MEMORIES) {
                    table.append(diskRow(mode, early, memory));
                }
            }
        }
        return table.toString();
    }

    private String diskRow(String mode, boolean early, int memory) throws Exception {
        Map<String, String> options = new HashMap<>(Map.of(MODE, mode, "faro.hybrid.memory", memory + "mb",
                CONSUME, early ? "UNFINISHED_PRODUCERS" : "ALL_PRODUCERS_FINISHED",
                "taskmanager.network.compression.codec", "NONE"));
        long written;
        long bytes;
        long fromFiles;
        try (Cluster faro = Cluster.faro(newFolder("faro"), DISK_PARALLELISM, options)) {
            faro.run(HybridEvaluation::moved, DISK_PARALLELISM);
            written = sum(HybridFigures::written);
            bytes = sum(HybridFigures::bytes);
            fromFiles = sum(HybridFigures::fromFiles);
        }
        // The memory of Flink's own hybrid shuffle is network memory.
        options.put("taskmanager.memory.network.min", (memory + 32) + "mb");
        options.put("taskmanager.memory.network.max", (memory + 32) + "mb");
        Path files = newFolder("stock");
        long stock;
        try (Cluster cluster = Cluster.stock(files, DISK_PARALLELISM, options);
                JobMeasure measure = JobMeasure.begin(files)) {
            cluster.run(HybridEvaluation::moved, DISK_PARALLELISM);
            stock = measure.end().storedBytes();
        }
        return row(mode.equals(FULL) ? "full" : "selective", early ? "while producers write" : "after producers",
                memory + " MiB", megabytes(written) + " of " + megabytes(bytes),
                percent(bytes - fromFiles, bytes), megabytes(stock));
    }

    private static long sum(ToLongFunction<HybridFigures> of) {
        return WatchedFactory.HYBRID.stream().map(partition -> partition.store().figures()).mapToLong(of).sum();
    }

    private static String megabytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f MB", bytes / 1e6);
    }

    private static String percent(long part, long of) {
        return String.format(Locale.ROOT, "%.0f %%", 100.0 * part / of);
    }

    // The end of a job with a slow producer, by mode. Tasks wait; the processor is idle.

    /** Sleeps in each record, the first subtask longer. */
    private static final class Produces extends RichFlatMapFunction<Long, Long> {
        private static final long serialVersionUID = 1;

        @Override
        public void flatMap(Long number, Collector<Long> out) throws InterruptedException {
            boolean slow = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() == 0;
            Thread.sleep((slow ? SLOW_MILLISECONDS : FAST_MILLISECONDS) / SKEWED_RECORDS);
            out.collect(number);
        }
    }

    private static final class Consumes extends RichMapFunction<Long, String> {
        private static final long serialVersionUID = 1;
        private final int consumers;

        Consumes(int consumers) {
            this.consumers = consumers;
        }

        @Override
        public String map(Long number) throws InterruptedException {
            // Each consumer gets its part of the records of all producers.
            Thread.sleep((long) CONSUME_MILLISECONDS * consumers / (4 * SKEWED_RECORDS));
            return String.valueOf(number);
        }
    }

    private static DataStream<String> skewed(StreamExecutionEnvironment environment) {
        return environment.fromSequence(1, 4 * SKEWED_RECORDS).setParallelism(4)
                .flatMap(new Produces()).setParallelism(4)
                .rebalance().map(new Consumes(3)).setParallelism(3);
    }

    private String makespan() throws Exception {
        StringBuilder table = new StringBuilder(head("exchanges", "from submission to the result"));
        List<String[]> arms = new ArrayList<>();
        arms.add(new String[] {"blocking, Flink", BLOCKING, ""});
        arms.add(new String[] {"blocking, Faro", BLOCKING, "faro"});
        arms.add(new String[] {"selective, Flink", SELECTIVE, ""});
        arms.add(new String[] {"selective, Faro", SELECTIVE, "faro"});
        arms.add(new String[] {"full, Faro", FULL, "faro"});
        for (String[] arm : arms) {
            Map<String, String> options = Map.of(MODE, arm[1]);
            Path files = newFolder("makespan");
            try (Cluster cluster = arm[2].isEmpty() ? Cluster.stock(files, 2, options)
                    : Cluster.faro(files, 2, options)) {
                // The first run loads classes.
                cluster.run(HybridEvaluation::skewed, 4);
                long begin = System.nanoTime();
                cluster.run(HybridEvaluation::skewed, 4);
                table.append(row(arm[0], String.format(Locale.ROOT, "%.1f s", (System.nanoTime() - begin) / 1e9)));
            }
        }
        return table.toString();
    }

    // Requests for network buffers, in batches and not.

    private static String batches() throws Exception {
        StringBuilder table = new StringBuilder(head("threads", "one with each request", "ten with each request"));
        for (int threads : new int[] {1, 8}) {
            table.append(row(threads, spread(BufferRequests.milliseconds(threads, false)),
                    spread(BufferRequests.milliseconds(threads, true))));
        }
        return table.toString();
    }

    // The least network memory of a task that writes, by its consumers.

    private String leastMemory() throws Exception {
        StringBuilder table = new StringBuilder(head("exchanges", "to 100", "to 500", "to 1,000"));
        // The guesses save time, as each number that is too small can take a minute.
        table.append(leastRow("blocking, Flink", Cluster::start, BLOCKING, consumers -> 512));
        table.append(leastRow("blocking, Faro", Cluster::faro, BLOCKING, consumers -> 512));
        // Flink requires P + 1, at most 101, and then takes one for each consumer, at most 512.
        IntUnaryOperator flink = consumers -> consumers == 100 ? 101 : Math.min(consumers, 512);
        table.append(leastRow("selective, Flink", Cluster::start, SELECTIVE, flink));
        table.append(leastRow("selective, Faro", Cluster::faro, SELECTIVE, consumers -> 1));
        table.append(leastRow("full, Flink", Cluster::start, FULL, flink));
        table.append(leastRow("full, Faro", Cluster::faro, FULL, consumers -> 1));
        return table.toString();
    }

    private String leastRow(String name, Cluster.Factory factory, String mode, IntUnaryOperator guess)
            throws Exception {
        LeastMemory memory = new LeastMemory(factory, Map.of(MODE, mode));
        List<Object> cells = new ArrayList<>(List.of(name));
        for (int consumers : new int[] {100, 500, 1_000}) {
            cells.add(String.format(Locale.ROOT, "%,d",
                    memory.buffers(newFolder("least"), consumers, guess.applyAsInt(consumers))));
        }
        return row(cells.toArray());
    }

    private static String spread(double[] milliseconds) {
        return String.format(Locale.ROOT, "%.1f ms (%.1f to %.1f)", milliseconds[1], milliseconds[0], milliseconds[2]);
    }
}
