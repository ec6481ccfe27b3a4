package dev.faro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Queries of TPC-DS that shuffle much give what they give with Spark's own shuffle. The property names the folder that
 * {@code scripts/tpcds} makes.
 */
@EnabledIfSystemProperty(named = "faro.tpcds", matches = ".+")
class TpcdsTest {
    private static final List<Integer> QUERIES = Queries.of(List.of(4, 14, 17, 23, 64, 67, 72, 78, 95));
    private static final Path DATA = Path.of(System.getProperty("faro.tpcds", "."));

    @TempDir
    private Path folder;

    private static List<String> answers(TestSession session) {
        try (Stream<Path> files = Files.list(DATA)) {
            for (Path file : files.filter(one -> one.toString().endsWith(".parquet")).collect(Collectors.toList())) {
                session.sql().read().parquet(file.toString())
                        .createOrReplaceTempView(file.getFileName().toString().replace(".parquet", ""));
            }
            List<String> rows = new ArrayList<>();
            for (int number : QUERIES) {
                String query = Files.readString(DATA.resolve("q" + number + ".sql")).replace(";", "").replace('"', '`');
                List<String> found = new ArrayList<>();
                for (Row row : session.sql().sql(query).collectAsList()) {
                    found.add(number + ": " + row);
                }
                // Rows that are equal in the order of the query may come in any.
                found.sort(null);
                rows.addAll(found);
            }
            return rows;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void queries() {
        Map<String, String> settings = Map.of("spark.sql.autoBroadcastJoinThreshold", "-1");
        List<String> expected = TestSession.expected(folder, settings, TpcdsTest::answers);
        assertTrue(expected.size() > QUERIES.size(), expected.size() + " rows");
        try (TestSession session = TestSession.faro(folder, settings)) {
            assertEquals(expected, answers(session));
            assertFalse(session.outputs().isEmpty());
        }
    }
}
