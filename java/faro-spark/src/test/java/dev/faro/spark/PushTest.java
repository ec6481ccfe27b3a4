package dev.faro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.spark.merge.FaroMergeManager;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.network.shuffle.RemoteBlockPushResolver;
import org.apache.spark.rdd.RDD;
import org.apache.spark.rdd.ShuffledRDD;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import scala.Tuple2;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** Push-based shuffle: real jobs whose blocks were pushed, merged and read as chunks. */
@Timeout(300)
class PushTest {
    @TempDir
    private Path folder;

    enum Service {
        /** The service has Faro's merge manager. */
        FARO {
            @Override
            ShuffleServer start(String host, int port) throws Exception {
                return new ShuffleServer(host, port, FaroMergeManager::new, null);
            }
        },
        /** The service is Spark's, unchanged. */
        STOCK {
            @Override
            ShuffleServer start(String host, int port) throws Exception {
                return new ShuffleServer(host, port, RemoteBlockPushResolver::new, null);
            }
        };

        abstract ShuffleServer start(String host, int port) throws Exception;
    }

    /** Jobs with everything that a reader does: plain, aggregated with and without the map side, sorted. */
    private static List<String> jobs(TestSession session) {
        List<String> results = new ArrayList<>();
        List<Row> rows = session.sql().sql("""
                select key, sum(xxhash64(key, value) % 1000000), count(*) from
                (select /*+ repartition(8, key) */ id % 1003 as key, sha2(cast(id as string), 256) as value
                from range(0, 200000, 1, 12)) group by key order by key""").collectAsList();
        rows.forEach(row -> results.add(row.toString()));
        List<Integer> numbers = IntStream.range(0, 60_000).boxed().collect(Collectors.toList());
        results.addAll(sorted(session.rdds().parallelize(numbers, 12)
                .mapToPair(number -> new Tuple2<>(number % 997, (long) number)).reduceByKey(Long::sum, 6)
                .map(String::valueOf).collect()));
        results.addAll(session.rdds().parallelize(numbers, 12)
                .mapToPair(number -> new Tuple2<>((number * 7919) % 60_000, "text " + number)).sortByKey(true, 6)
                .map(String::valueOf).collect());
        results.addAll(sorted(session.rdds().parallelize(numbers, 12)
                .mapToPair(number -> new Tuple2<>(number % 97, number)).groupByKey(5)
                .mapValues(values -> {
                    long sum = 0;
                    for (int value : values) {
                        sum += value;
                    }
                    return sum;
                }).map(String::valueOf).collect()));
        return results;
    }

    private static List<String> sorted(List<String> rows) {
        List<String> sorted = new ArrayList<>(rows);
        Collections.sort(sorted);
        return sorted;
    }

    /** One shuffle of the application has Java's serializer, whose streams cannot be read as one. */
    @Test
    void streamsComeFromTheMapTasks() throws Exception {
        Map<String, String> settings = Map.of("spark.shuffle.manager", FaroShuffleManager.class.getName());
        List<Integer> numbers = IntStream.range(0, 60_000).boxed().collect(Collectors.toList());
        try (PushCluster cluster = new PushCluster(folder, Service.FARO::start);
                TestSession session = cluster.start(folder, settings)) {
            PushCluster.Reads reads = new PushCluster.Reads();
            session.rdds().sc().addSparkListener(reads);
            ClassTag<Integer> tag = ClassTag$.MODULE$.apply(Integer.class);
            RDD<Tuple2<Integer, Integer>> pairs = session.rdds().parallelize(numbers, 12)
                    .mapToPair(number -> new Tuple2<>(number, number)).rdd();
            RDD<Tuple2<Integer, Integer>> shuffled = new ShuffledRDD<>(pairs, new HashPartitioner(5), tag, tag, tag)
                    .setSerializer(new JavaSerializer(session.rdds().getConf()));
            List<Integer> keys = shuffled.toJavaRDD().map(Tuple2::_1).collect();
            assertEquals(numbers, keys.stream().sorted().collect(Collectors.toList()));
            session.rdds().sc().listenerBus().waitUntilEmpty();
            assertEquals(0, reads.mergedBlocks() + reads.failedTasks(), reads.toString());
        }
    }

    @ParameterizedTest
    @CsvSource({"FARO, true", "STOCK, false"})
    void resultsAreThoseOfStockSpark(Service service, boolean remote) throws Exception {
        List<String> expected = TestSession.expected(folder, Map.of(), PushTest::jobs);
        Map<String, String> settings = new HashMap<>(
                Map.of("spark.shuffle.manager", FaroShuffleManager.class.getName()));
        if (remote) {
            settings.put(PushClusterManager.EXCLUDED, PushCluster.HOSTS.get(1));
            settings.put("spark.locality.wait", "0");
        }
        try (PushCluster cluster = new PushCluster(folder, service::start);
                TestSession session = cluster.start(folder, settings)) {
            PushCluster.Reads reads = new PushCluster.Reads();
            session.rdds().sc().addSparkListener(reads);
            assertEquals(expected, jobs(session));
            session.rdds().sc().listenerBus().waitUntilEmpty();
            assertTrue(reads.mergedBlocks() >= 0.9 * reads.blocks(), reads.toString());
            assertTrue(!remote || reads.remoteChunks() > 0, reads.toString());
            assertEquals(0, reads.fallbacks() + reads.damagedChunks() + reads.failedTasks(), reads.toString());
        }
    }
}
