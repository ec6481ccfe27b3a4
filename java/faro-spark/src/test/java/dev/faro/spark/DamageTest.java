package dev.faro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.FetchFailed;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import scala.Tuple2;

/** A damaged output is a fetch failure to Spark: its map task runs again, and the result is right. */
class DamageTest {
    private static final Map<String, String> SETTINGS = settings("Kryo", false);

    private static Map<String, String> settings(String serializer, boolean compressed) {
        return Map.of("spark.serializer", "org.apache.spark.serializer." + serializer + "Serializer",
                "spark.shuffle.compress", String.valueOf(compressed));
    }

    @TempDir
    private Path folder;

    /** Counts fetch failures. */
    private static final class Failures extends SparkListener {
        private final AtomicInteger count = new AtomicInteger();

        @Override
        public void onTaskEnd(SparkListenerTaskEnd end) {
            if (end.reason() instanceof FetchFailed) {
                count.incrementAndGet();
            }
        }
    }

    enum Harm {
        FLIPPED_BIT {
            @Override
            void apply(TestSession.Output output) throws Exception {
                byte[] file = Files.readAllBytes(output.data());
                file[file.length / 2] ^= 4;
                Files.write(output.data(), file);
            }
        },
        ZEROED_PAGE {
            @Override
            void apply(TestSession.Output output) throws Exception {
                byte[] file = Files.readAllBytes(output.data());
                java.util.Arrays.fill(file, file.length / 3, Math.min(file.length, file.length / 3 + 4096), (byte) 0);
                Files.write(output.data(), file);
            }
        },
        CUT_DATA {
            @Override
            void apply(TestSession.Output output) throws Exception {
                byte[] file = Files.readAllBytes(output.data());
                Files.write(output.data(), java.util.Arrays.copyOf(file, file.length / 2));
            }
        },
        FLIPPED_INDEX {
            @Override
            void apply(TestSession.Output output) throws Exception {
                byte[] file = Files.readAllBytes(output.index());
                file[100] ^= 1;
                Files.write(output.index(), file);
                // What is in memory of the index is used for as long as the data file is the same.
                Files.setLastModifiedTime(output.data(), FileTime.fromMillis(0));
            }
        },
        REMOVED {
            @Override
            void apply(TestSession.Output output) throws Exception {
                Files.delete(output.data());
            }
        };

        abstract void apply(TestSession.Output output) throws Exception;
    }

    private static JavaPairRDD<Integer, String> shuffled(TestSession session, int records) {
        List<Integer> numbers = IntStream.range(0, records).boxed().collect(Collectors.toList());
        return session.rdds().parallelize(numbers, 3).mapToPair(number -> new Tuple2<>(number, "text " + number % 99))
                .repartition(4);
    }

    private static List<String> rows(JavaPairRDD<Integer, String> rdd) {
        List<String> rows = new ArrayList<>(rdd.map(String::valueOf).collect());
        Collections.sort(rows);
        return rows;
    }

    @ParameterizedTest
    @EnumSource(Harm.class)
    void theMapTaskRunsAgain(Harm harm) throws Exception {
        theMapTaskRunsAgain(harm, SETTINGS, 10_000);
    }

    /** Small blocks are read when they are asked for. */
    @ParameterizedTest
    @EnumSource(Harm.class)
    void theMapTaskRunsAgainForSmallBlocks(Harm harm) throws Exception {
        theMapTaskRunsAgain(harm, SETTINGS, 40);
    }

    /** Java's serializer takes an end of the stream that it does not expect for the end of the records. */
    @ParameterizedTest
    @CsvSource({"FLIPPED_BIT,false", "ZEROED_PAGE,true", "CUT_DATA,true", "CUT_DATA,false", "FLIPPED_INDEX,true"})
    void theMapTaskRunsAgainWithStreams(Harm harm, boolean compressed) throws Exception {
        theMapTaskRunsAgain(harm, settings("Java", compressed), 10_000);
    }

    private void theMapTaskRunsAgain(Harm harm, Map<String, String> settings, int records) throws Exception {
        List<String> expected = TestSession.expected(folder, settings, session -> rows(shuffled(session, records)));
        try (TestSession session = TestSession.faro(folder, settings)) {
            Failures failures = new Failures();
            session.rdds().sc().addSparkListener(failures);
            JavaPairRDD<Integer, String> rdd = shuffled(session, records);
            rdd.count();
            assertEquals(0, failures.count.get());
            List<TestSession.Output> outputs = session.outputs();
            assertEquals(3, outputs.size());
            harm.apply(outputs.get(0));
            assertEquals(expected, rows(rdd));
            session.rdds().sc().listenerBus().waitUntilEmpty();
            assertTrue(failures.count.get() > 0, "no fetch has failed");
        }
    }

    @Test
    void withoutDamageNothingFails() {
        try (TestSession session = TestSession.faro(folder, SETTINGS)) {
            Failures failures = new Failures();
            session.rdds().sc().addSparkListener(failures);
            JavaPairRDD<Integer, String> rdd = shuffled(session, 10_000);
            assertEquals(rows(rdd), rows(rdd));
            assertEquals(0, failures.count.get());
        }
    }
}
