package dev.faro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.faro.spark.merge.FaroMergeManager;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.network.shuffle.RemoteBlockPushResolver;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Harms to push-based shuffle: whatever happens to pushes, merged files and the service's disk, a job has the right result.
 * {@code make spark-harms} does many, also with stock Spark, and writes the table of the documentation.
 */
class HarmsTest {
    /** How many of each kind. */
    private static final int EACH = Integer.getInteger("faro.harms", 1);
    /** A job takes about one. */
    private static final int PATIENCE_SECONDS = 20;
    /** One kind, to look at it; all without it. */
    private static final String ONLY = System.getProperty("faro.harm", "");
    private static final Path TABLE = Path.of("target", "harms.md");

    /** What became of the jobs, by subject. */
    private static final Map<String, Map<Harm, Count>> COLUMNS = new LinkedHashMap<>();

    @TempDir
    private Path folder;

    enum Subject {
        FARO("Faro, with `faro-spark-merge`", true, true),
        FARO_ON_STOCK_SERVICE("Faro, on Spark's own service", true, false),
        STOCK("stock Spark", false, false);

        private final String title;
        private final boolean faro;
        private final boolean faroService;

        Subject(String title, boolean faro, boolean faroService) {
            this.title = title;
            this.faro = faro;
            this.faroService = faroService;
        }
    }

    /** How the jobs ended. */
    private static final class Count {
        private int jobs;
        private int untouched;
        private int fallbacks;
        private int retries;
        private int wrong;
        private int aborted;
        private int hung;

        /** A cell of the table. */
        @Override
        public String toString() {
            List<String> parts = new ArrayList<>();
            add(parts, untouched, "right");
            add(parts, fallbacks, "right, from the map tasks");
            add(parts, retries, "right, after running again");
            add(parts, wrong, "**wrong result**");
            add(parts, aborted, "**aborted**");
            add(parts, hung, "**no end**");
            return String.join("; ", parts);
        }

        private void add(List<String> parts, int count, String how) {
            if (count > 0) {
                parts.add(count == jobs ? how : count + " of " + jobs + " " + how);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "STOCK")
    void resultsStayRight(Subject subject) throws Exception {
        Map<Harm, Count> counts = new EnumMap<>(Harm.class);
        // A sample has one form with each service.
        boolean sample = System.getProperty("faro.harms") == null;
        if (!sample || subject.faroService) {
            harm(subject, true, counts);
        }
        if (!sample || !subject.faroService) {
            harm(subject, false, counts);
        }
        COLUMNS.put(subject.title, counts);
        counts.forEach((harm, count) -> {
            assertEquals(0, count.wrong, "wrong results with " + harm);
            assertEquals(0, count.aborted, "aborted jobs with " + harm);
            assertEquals(0, count.hung, "jobs that do not end with " + harm);
        });
    }

    /** What stock Spark does is not asserted: the table tells of it. */
    @ParameterizedTest
    @EnumSource(names = "STOCK")
    @EnabledIfSystemProperty(named = "faro.harms", matches = ".+")
    void stockSpark(Subject subject) throws Exception {
        for (boolean compressed : new boolean[] {true, false}) {
            Map<Harm, Count> counts = new EnumMap<>(Harm.class);
            harm(subject, compressed, counts);
            COLUMNS.put(subject.title + (compressed ? "" : ", `spark.shuffle.compress=false`"), counts);
        }
    }

    private static Row job(TestSession session) {
        return session.sql().sql("""
                select sum(cast(xxhash64(key, value) as decimal(38, 0))), count(*) from
                (select /*+ repartition(4, key) */ id % 10007 as key, sha2(cast(id as string), 256) as value
                from range(0, 40000, 1, 7))""").first();
    }

    private void harm(Subject subject, boolean compressed, Map<Harm, Count> counts) throws Exception {
        HarmfulManager.Trial trial = new HarmfulManager.Trial();
        Map<String, String> settings = new HashMap<>(
                Map.of("spark.shuffle.compress", String.valueOf(compressed), "spark.ui.showConsoleProgress", "false"));
        if (!compressed) {
            // One service merges for both hosts, so that chunks are read over the network too.
            settings.put(PushClusterManager.EXCLUDED, PushCluster.HOSTS.get(1));
            settings.put("spark.locality.wait", "0");
        }
        if (subject.faro) {
            settings.put("spark.shuffle.manager", FaroShuffleManager.class.getName());
        }
        Row expected = TestSession.expected(folder, Map.of(), HarmsTest::job);
        PushCluster.Maker maker = (host, port) -> new ShuffleServer(host, port,
                (conf, recovery) -> new HarmfulManager(subject.faroService ? new FaroMergeManager(conf, null)
                        : new RemoteBlockPushResolver(conf, null), trial, PushCluster.HOSTS.indexOf(host)), null);
        try (PushCluster cluster = new PushCluster(folder, maker);
                TestSession session = cluster.start(folder, settings)) {
            assertEquals(expected, job(session));
            for (Harm harm : ONLY.isEmpty() ? Harm.values() : new Harm[] {Harm.valueOf(ONLY)}) {
                for (int seed = 0; seed < EACH; seed++) {
                    trial.begin(harm, 2 * seed + (compressed ? 0 : 1));
                    run(session, expected, trial, counts.computeIfAbsent(harm, none -> new Count()));
                }
            }
        }
    }

    private static Row inTime(TestSession session) throws Exception {
        CompletableFuture<Row> result = CompletableFuture.supplyAsync(() -> job(session));
        return result.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private static void run(TestSession session, Row expected, HarmfulManager.Trial trial, Count count)
            throws Exception {
        PushCluster.Reads reads = new PushCluster.Reads();
        session.rdds().sc().addSparkListener(reads);
        count.jobs++;
        try {
            Row found = inTime(session);
            session.rdds().sc().listenerBus().waitUntilEmpty();
            if (!found.equals(expected)) {
                count.wrong++;
            } else if (reads.stageRetries() + reads.failedTasks() > 0) {
                count.retries++;
            } else if (reads.fallbacks() > 0) {
                count.fallbacks++;
            } else {
                count.untouched++;
            }
        } catch (TimeoutException e) {
            count.hung++;
            session.rdds().sc().cancelAllJobs();
        } catch (ExecutionException e) {
            count.aborted++;
        }
        session.rdds().sc().removeSparkListener(reads);
        assertEquals(trial.harm() == Harm.NONE, trial.done() == 0, "harms done");
        trial.begin(Harm.NONE, 0);
    }

    /** The table of docs/spark-damage.md. */
    @AfterAll
    static void write() throws IOException {
        List<String> lines = new ArrayList<>(List.of(
                "| | " + String.join(" | ", COLUMNS.keySet()) + " |", "|---".repeat(COLUMNS.size() + 1) + "|"));
        for (Harm harm : Harm.values()) {
            List<String> cells = COLUMNS.values().stream()
                    .map(counts -> counts.containsKey(harm) ? counts.get(harm).toString() : "").toList();
            lines.add("| " + harm.title() + " | " + String.join(" | ", cells) + " |");
        }
        Files.write(TABLE, lines);
    }
}
