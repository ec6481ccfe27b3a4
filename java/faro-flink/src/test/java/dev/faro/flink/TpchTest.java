package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SQL jobs over the tables of TPC-H have the same results as with Flink's own shuffle. */
class TpchTest {
    private static final int SLOTS = 2;
    private static final int PARALLELISM = 4;

    @TempDir
    Path stockFolder;

    @TempDir
    Path folder;

    @Test
    void queries() throws Exception {
        Tpch tpch = new Tpch(Path.of(System.getProperty("faro.tpch", "../../out/tpch-0.1")));
        Map<String, List<String>> expected = new HashMap<>();
        try (Cluster stock = Cluster.stock(stockFolder, SLOTS, Map.of())) {
            for (String query : Tpch.QUERIES) {
                expected.put(query, stock.run(tpch.job(query), PARALLELISM).results());
            }
        }
        for (String mode : List.of("BLOCKING", "HYBRID_FULL", "HYBRID_SELECTIVE")) {
            Map<String, String> options = new HashMap<>();
            options.put("execution.batch-shuffle-mode", "ALL_EXCHANGES_" + mode);
            // Less than some exchanges have.
            options.put("faro.hybrid.memory", "1mb");
            try (Cluster faro = Cluster.faro(folder, SLOTS, options)) {
                for (String query : Tpch.QUERIES) {
                    int before = WatchedFactory.PARTITIONS.size() + WatchedFactory.HYBRID.size();
                    List<String> found = faro.run(tpch.job(query), PARALLELISM).results();
                    assertFalse(found.isEmpty(), query);
                    assertEquals(expected.get(query), found, query + ", " + mode);
                    assertTrue(WatchedFactory.PARTITIONS.size() + WatchedFactory.HYBRID.size() > before, query);
                }
                assertEquals(mode.equals("BLOCKING"), WatchedFactory.HYBRID.isEmpty());
                assertEquals(mode.equals("BLOCKING"), WatchedFactory.HYBRID.stream()
                        .allMatch(partition -> partition.store().figures().written() == 0), "some were written");
            }
        }
    }
}
