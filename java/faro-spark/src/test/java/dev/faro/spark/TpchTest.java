package dev.faro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The 22 queries of TPC-H give what they give with Spark's own shuffle. The property names a folder of its tables. */
@EnabledIfSystemProperty(named = "faro.tpch", matches = ".+")
class TpchTest {
    private static final List<String> TABLES = List.of("customer", "lineitem", "nation", "orders", "part", "partsupp",
            "region", "supplier");
    private static final List<Integer> QUERIES = Queries.of(IntStream.rangeClosed(1, 22).boxed().toList());
    /** Results that have rows at scale 0.1. */
    private static final int LEAST_ROWS = 1000;

    @TempDir
    private Path folder;

    private static String query(int number) {
        try (InputStream text = TpchTest.class.getResourceAsStream("/tpch/q" + number + ".sql")) {
            return new String(text.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> answers(TestSession session) {
        Path tables = Path.of(System.getProperty("faro.tpch"));
        for (String table : TABLES) {
            session.sql().read().parquet(tables.resolve(table + ".parquet").toString()).createOrReplaceTempView(table);
        }
        List<String> rows = new ArrayList<>();
        for (int number : QUERIES) {
            for (Row row : session.sql().sql(query(number)).collectAsList()) {
                rows.add(number + ": " + row);
            }
        }
        return rows;
    }

    /** All joins are of sorted partitions, so that all data is shuffled. */
    @ParameterizedTest
    @CsvSource({"true, 64m", "false, 256k"})
    void queries(boolean adaptive, String bufferSize) {
        Map<String, String> settings = new TreeMap<>(Map.of("spark.sql.adaptive.enabled", String.valueOf(adaptive),
                "spark.sql.autoBroadcastJoinThreshold", "-1", "spark.sql.files.maxPartitionBytes", "4m"));
        List<String> expected = TestSession.expected(folder, settings, TpchTest::answers);
        assertTrue(expected.size() > LEAST_ROWS, expected.size() + " rows");
        settings.put(Settings.BUFFER_SIZE, bufferSize);
        try (TestSession session = TestSession.faro(folder, settings)) {
            List<String> found = answers(session);
            assertEquals(expected, found);
            assertFalse(session.outputs().isEmpty());
        }
    }
}
