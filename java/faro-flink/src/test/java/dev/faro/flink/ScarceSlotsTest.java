package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobmanager.scheduler.NoResourceAvailableException;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.util.ExceptionUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Queries that need more slots at once than there are. With pipelined exchanges each waits for slots that never come,
 * until Flink gives it up. With hybrid exchanges all run with the slots that there are, and without files.
 */
@Timeout(120)
class ScarceSlotsTest {
    private static final int SLOTS = 1;
    private static final int PARALLELISM = 4;
    private static final int QUERIES = 6;

    @TempDir
    Path folder;

    private static DataStream<String> query(StreamExecutionEnvironment environment) {
        return environment.fromSequence(1, 1000).rebalance().map(String::valueOf).rebalance().map(each -> each);
    }

    private static List<String> expected() {
        return LongStream.rangeClosed(1, 1000).mapToObj(String::valueOf).sorted().toList();
    }

    private static List<List<String>> runAll(Cluster cluster) throws Exception {
        JobGraph graph = cluster.graph(ScarceSlotsTest::query, PARALLELISM);
        ExecutorService clients = Executors.newFixedThreadPool(QUERIES);
        try {
            List<Future<List<String>>> running = new ArrayList<>();
            for (int i = 0; i < QUERIES; i++) {
                running.add(clients.submit(() -> cluster.run(graph)));
            }
            List<List<String>> results = new ArrayList<>();
            for (Future<List<String>> query : running) {
                results.add(query.get());
            }
            return results;
        } finally {
            clients.shutdownNow();
        }
    }

    @Test
    void pipelinedQueriesGetNoSlots() throws Exception {
        Map<String, String> options = Map.of("execution.batch-shuffle-mode", "ALL_EXCHANGES_PIPELINED",
                "jobmanager.scheduler", "Default", "slot.request.timeout", "2000", "restart-strategy.type", "none");
        try (Cluster cluster = Cluster.faro(folder, SLOTS, options)) {
            Throwable failure = assertThrows(Exception.class, () -> runAll(cluster));
            assertTrue(ExceptionUtils.findThrowable(failure, NoResourceAvailableException.class).isPresent(),
                    () -> ExceptionUtils.stringifyException(failure));
        }
    }

    /** The slots are what is scarce: one query runs if there are enough for it. */
    @Test
    void aPipelinedQueryRunsWithEnoughSlots() throws Exception {
        Map<String, String> options = Map.of("execution.batch-shuffle-mode", "ALL_EXCHANGES_PIPELINED",
                "jobmanager.scheduler", "Default", "slot.request.timeout", "2000", "restart-strategy.type", "none");
        try (Cluster cluster = Cluster.faro(folder, 3 * PARALLELISM, options)) {
            assertEquals(expected(), cluster.run(cluster.graph(ScarceSlotsTest::query, PARALLELISM)));
        }
    }

    @Test
    void hybridQueriesRun() throws Exception {
        Map<String, String> options = Map.of("execution.batch-shuffle-mode", "ALL_EXCHANGES_HYBRID_SELECTIVE",
                "jobmanager.scheduler", "Default", "slot.request.timeout", "60000");
        try (Cluster cluster = Cluster.faro(folder, SLOTS, options)) {
            for (List<String> results : runAll(cluster)) {
                assertEquals(expected(), results);
            }
            assertEquals(0, WatchedFactory.HYBRID.stream().mapToLong(each -> each.store().figures().written()).sum());
            assertTrue(WatchedFactory.HYBRID.size() >= 2 * PARALLELISM * QUERIES);
        }
    }
}
