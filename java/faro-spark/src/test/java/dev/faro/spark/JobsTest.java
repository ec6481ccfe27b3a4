package dev.faro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.reader.Reader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Tuple2;

/** Jobs give with Faro's shuffle what they give with Spark's own. */
class JobsTest {
    private static final Map<String, String> KRYO =
            Map.of("spark.serializer", "org.apache.spark.serializer.KryoSerializer");

    @TempDir
    private Path folder;

    /** Operations on RDDs; each gives a result that does not depend on the order of what arrives. */
    enum Job {
        REDUCE_BY_KEY(session -> sorted(pairs(session).reduceByKey(Integer::sum, 5))),
        SORT_BY_KEY(session -> texts(pairs(session).mapToPair(Tuple2::swap).sortByKey(true, 6).keys().collect())),
        GROUP_BY_KEY(session -> sorted(pairs(session).groupByKey(4).mapValues(JobsTest::inOrder))),
        JOIN(session -> sorted(pairs(session).join(pairs(session).reduceByKey(Integer::sum), 3))),
        DISTINCT(session -> sorted(pairs(session).values().map(value -> value % 1000).distinct(8)
                .mapToPair(value -> new Tuple2<>(String.valueOf(value), value)))),
        REPARTITION(session -> sorted(pairs(session).repartition(9))),
        MANY_PARTITIONS(session -> sorted(pairs(session).reduceByKey(Integer::sum, 3000))),
        MOST_PARTITIONS(session -> sorted(pairs(session).reduceByKey(Integer::sum, 10_000))),
        /** 102,400 blocks of one record or two. */
        TINY_BLOCKS(session -> sorted(session.rdds().parallelize(numbers(320), 320)
                .flatMapToPair(map -> numbers(320).stream().map(to -> new Tuple2<>(to, map)).iterator())
                .partitionBy(new HashPartitioner(320)).reduceByKey(Integer::sum))),
        CACHED(session -> {
            JavaPairRDD<String, Integer> cached = pairs(session).reduceByKey(Integer::sum, 4).cache();
            return sorted(cached).toString() + sorted(cached.join(cached)).toString();
        }),
        BROADCAST(session -> {
            Broadcast<List<Integer>> few = session.rdds().broadcast(List.of(3, 5, 7));
            return sorted(pairs(session).mapValues(value -> value * few.value().get(value % 3)).repartition(5));
        }),
        EMPTY(session -> sorted(pairs(session).filter(pair -> false).reduceByKey(Integer::sum, 4))),
        LARGE_RECORDS(session -> sorted(session.rdds().parallelize(List.of(1, 2, 3), 3)
                .mapToPair(number -> new Tuple2<>(String.valueOf(number), "x".repeat(number * 1_500_000)))
                .repartition(2).mapValues(String::length)));

        private final Function<TestSession, Object> run;

        Job(Function<TestSession, Object> run) {
            this.run = run;
        }
    }

    private static List<Integer> numbers(int count) {
        return IntStream.range(0, count).boxed().collect(Collectors.toList());
    }

    private static JavaPairRDD<String, Integer> pairs(TestSession session) {
        return session.rdds().parallelize(numbers(20_000), 4)
                .mapToPair(number -> new Tuple2<>("key " + number % 321, number));
    }

    private static List<Integer> inOrder(Iterable<Integer> values) {
        List<Integer> list = new ArrayList<>();
        values.forEach(list::add);
        Collections.sort(list);
        return list;
    }

    private static List<String> sorted(JavaPairRDD<?, ?> rdd) {
        List<String> rows = new ArrayList<>(texts(rdd.collect()));
        Collections.sort(rows);
        return rows;
    }

    private static List<String> texts(List<?> rows) {
        return rows.stream().map(String::valueOf).collect(Collectors.toList());
    }

    @ParameterizedTest
    @EnumSource(Job.class)
    void rdds(Job job) throws Exception {
        Object expected = TestSession.expected(folder, KRYO, job.run::apply);
        try (TestSession session = TestSession.faro(folder, KRYO)) {
            assertEquals(expected, job.run.apply(session));
            List<TestSession.Output> outputs = session.outputs();
            assertFalse(outputs.isEmpty(), "no output is a Faro file");
            for (TestSession.Output output : outputs) {
                check(output);
            }
        }
    }

    private static void check(TestSession.Output output, String... more) throws Exception {
        try (Reader reader = output.open()) {
            Check.check(reader, CheckLevel.DECODE);
            Map<String, String> properties = new TreeMap<>(reader.footer().properties());
            Set<String> names = new TreeSet<>(List.of(more));
            names.addAll(List.of("faro.spark.application", "faro.spark.map", "faro.spark.shuffle", "faro.spark.task"));
            assertEquals(names, properties.keySet());
            assertEquals("shuffle_" + properties.get("faro.spark.shuffle") + "_" + properties.get("faro.spark.task")
                    + "_0.data", output.data().getFileName().toString());
        }
    }

    private static final Map<String, String> JAVA =
            Map.of("spark.serializer", "org.apache.spark.serializer.JavaSerializer");

    /** Java's serializer, which is Spark's default for RDDs, does not relocate records: a partition is a stream. */
    @ParameterizedTest
    @EnumSource(value = Job.class, mode = EnumSource.Mode.EXCLUDE, names = {"MOST_PARTITIONS", "TINY_BLOCKS"})
    void javaSerializer(Job job) throws Exception {
        Object expected = TestSession.expected(folder, JAVA, job.run::apply);
        try (TestSession session = TestSession.faro(folder, JAVA)) {
            assertEquals(expected, job.run.apply(session));
            List<TestSession.Output> outputs = session.outputs();
            assertFalse(outputs.isEmpty(), "no output is a Faro file");
            for (TestSession.Output output : outputs) {
                check(output, "faro.spark.compression");
            }
        }
    }

    /** Spark's sorter spills, and a partition's stream is still one. */
    @ParameterizedTest
    @ValueSource(strings = {"lz4", "zstd", "snappy", "none"})
    void streamsOfASorterThatSpills(String codec) {
        Map<String, String> settings = new TreeMap<>(JAVA);
        settings.put("spark.shuffle.compress", String.valueOf(!codec.equals("none")));
        settings.put("spark.io.compression.codec", codec.equals("none") ? "lz4" : codec);
        settings.put("spark.shuffle.spill.numElementsForceSpillThreshold", "700");
        settings.put(Settings.BUFFER_SIZE, "16k");
        Function<TestSession, Object> job = session -> sorted(pairs(session).groupByKey(40).mapValues(JobsTest::inOrder));
        Object expected = TestSession.expected(folder, settings, job);
        try (TestSession session = TestSession.faro(folder, settings)) {
            assertEquals(expected, job.apply(session));
        }
    }

    /** Little memory for records: the outputs have many regions, and no file of spills. */
    @ParameterizedTest
    @EnumSource(value = Job.class, names = {"REPARTITION", "GROUP_BY_KEY", "LARGE_RECORDS"})
    void littleMemory(Job job) throws Exception {
        Map<String, String> settings = new TreeMap<>(KRYO);
        settings.put(Settings.BUFFER_SIZE, "16k");
        Object expected = TestSession.expected(folder, KRYO, job.run::apply);
        try (TestSession session = TestSession.faro(folder, settings)) {
            assertEquals(expected, job.run.apply(session));
            int most = 0;
            for (TestSession.Output output : session.outputs()) {
                check(output);
                try (Reader reader = output.open()) {
                    most = Math.max(most, reader.regionCount());
                }
            }
            assertTrue(most > 1, most + " regions");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"lz4", "zstd", "snappy", "none"})
    void codecs(String codec) {
        Map<String, String> settings = new TreeMap<>(KRYO);
        settings.put("spark.shuffle.compress", String.valueOf(!codec.equals("none")));
        settings.put("spark.io.compression.codec", codec.equals("none") ? "lz4" : codec);
        Object expected = TestSession.expected(folder, settings, Job.REPARTITION.run::apply);
        try (TestSession session = TestSession.faro(folder, settings)) {
            assertEquals(expected, Job.REPARTITION.run.apply(session));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sql(boolean adaptive) {
        Map<String, String> settings = Map.of("spark.sql.adaptive.enabled", String.valueOf(adaptive),
                "spark.sql.autoBroadcastJoinThreshold", "-1");
        Function<TestSession, List<String>> job = session -> {
            session.sql().range(0, 50_000, 1, 5).createOrReplaceTempView("numbers");
            List<Row> rows = session.sql().sql("with a as (select id, id % 97 as k, concat('name ', id % 13) as n,"
                    + " cast(id as decimal(20, 4)) / 7 as d from numbers),"
                    + " b as (select k, count(*) as c, sum(d) as s, max(n) as m from a group by k)"
                    + " select a.n, b.k, b.c, b.s, b.m, count(distinct a.id) as u from a join b on a.k = b.k"
                    + " group by a.n, b.k, b.c, b.s, b.m order by a.n, b.k").collectAsList();
            return texts(rows);
        };
        List<String> expected = TestSession.expected(folder, settings, job);
        assertEquals(13 * 97, expected.size());
        try (TestSession session = TestSession.faro(folder, settings)) {
            assertEquals(expected, job.apply(session));
            assertFalse(session.outputs().isEmpty());
        }
    }

    /** Tasks of a skewed partition read the outputs of some map tasks each; small partitions are read together. */
    @Test
    void skewedAndCoalescedReads() {
        Map<String, String> settings = new TreeMap<>(Map.of("spark.sql.adaptive.enabled", "true",
                "spark.sql.autoBroadcastJoinThreshold", "-1", "spark.sql.shuffle.partitions", "20",
                "spark.sql.adaptive.advisoryPartitionSizeInBytes", "20k",
                "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "20k",
                "spark.sql.adaptive.skewJoin.skewedPartitionFactor", "2"));
        List<String> plans = new ArrayList<>();
        Function<TestSession, List<String>> job = session -> {
            session.sql().range(0, 60_000, 1, 8).createOrReplaceTempView("numbers");
            Dataset<Row> joined = session.sql().sql("with a as (select if(id % 100 < 90, 0, id % 100) as k,"
                    + " concat('name ', id) as n from numbers),"
                    + " b as (select id as k, id * 7 as v from numbers where id < 100)"
                    + " select count(*), sum(b.v), max(a.n), sum(length(a.n)) from a join b on a.k = b.k");
            List<String> found = texts(joined.collectAsList());
            plans.add(joined.queryExecution().executedPlan().toString());
            return found;
        };
        List<String> expected = TestSession.expected(folder, settings, job);
        try (TestSession session = TestSession.faro(folder, settings)) {
            assertEquals(expected, job.apply(session));
        }
        for (String plan : plans) {
            assertTrue(plan.contains("skewed") && plan.contains("coalesced"), plan);
        }
    }

    /** What a shuffle left is removed with it. */
    @Test
    void outputsAreRemoved() throws Exception {
        try (TestSession session = TestSession.faro(folder, KRYO)) {
            JavaPairRDD<String, Integer> shuffled = pairs(session).repartition(3);
            shuffled.count();
            assertEquals(4, session.outputs().size());
            session.rdds().sc().env().shuffleManager().unregisterShuffle(0);
            assertEquals(List.of(), session.outputs());
        }
    }

    /** Spark does not end its writer after an Error, but the task ends. */
    @Test
    void aTaskThatFailsWithAnErrorLeavesNoFiles() {
        Map<String, String> settings = new TreeMap<>(KRYO);
        settings.put(Settings.BUFFER_SIZE, "16k");
        try (TestSession session = TestSession.faro(folder, settings)) {
            Set<String> before = shuffleFiles();
            JavaPairRDD<Integer, String> failing = session.rdds()
                    .parallelize(IntStream.range(0, 20_000).boxed().collect(Collectors.toList()), 1).mapToPair(number -> {
                        if (number == 19_999) {
                            // The first regions are on the disk.
                            assertFalse(before.containsAll(shuffleFiles()));
                            throw new NoClassDefFoundError("on purpose");
                        }
                        return new Tuple2<>(number, "number " + number);
                    });
            String said = assertThrows(SparkException.class, () -> failing.partitionBy(new HashPartitioner(3)).count())
                    .getMessage();
            assertTrue(said.contains("on purpose"), said);
            // Those of earlier tests may go meanwhile.
            assertTrue(before.containsAll(shuffleFiles()));
        }
    }

    /** The names of the files that shuffles have now. */
    private static Set<String> shuffleFiles() {
        return TestSession.files(TestSession.LOCAL).stream().map(file -> file.getFileName().toString())
                .filter(name -> name.contains("shuffle_")).collect(Collectors.toSet());
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "9g", "much"})
    void aBufferSizeOutOfRangeIsRefused(String size) {
        SparkConf conf = new SparkConf(false).set(Settings.BUFFER_SIZE, size);
        assertThrows(IllegalArgumentException.class, () -> new FaroShuffleManager(conf));
    }

    @ParameterizedTest
    @ValueSource(strings = {"spark.io.encryption.enabled", "spark.shuffle.push.enabled"})
    void whatDoesNotWorkIsRefused(String key) {
        SparkConf conf = new SparkConf(false).set(key, "true");
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> new FaroShuffleManager(conf));
        assertTrue(refused.getMessage().startsWith(key + " has to be false"), refused.getMessage());
    }
}
