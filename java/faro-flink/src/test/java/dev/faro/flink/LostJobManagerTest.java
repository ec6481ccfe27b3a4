package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.runtime.io.network.partition.ResultPartition;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A job whose JobManager is lost after its producers have ended, while its consumers read. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class LostJobManagerTest {
    private static final String MODE = "execution.batch-shuffle-mode";
    private static final int PARALLELISM = 2;
    private static final long RECORDS = 1_000;
    private static final AtomicInteger PRODUCERS = new AtomicInteger();
    private static volatile CountDownLatch waiting;
    private static volatile boolean lost;

    @TempDir
    Path folder;

    private static final class Produce extends RichMapFunction<Long, Long> {
        private static final long serialVersionUID = 1;

        @Override
        public void open(OpenContext context) {
            PRODUCERS.incrementAndGet();
        }

        @Override
        public Long map(Long number) {
            return number;
        }
    }

    /** Waits in its first record until Flink interrupts it, as long as the JobManager is not lost. */
    private static final class Consume implements MapFunction<Long, String> {
        private static final long serialVersionUID = 1;

        @Override
        public String map(Long number) throws InterruptedException {
            if (!lost) {
                waiting.countDown();
                new CountDownLatch(1).await();
            }
            return number.toString();
        }
    }

    private static DataStream<String> job(StreamExecutionEnvironment environment) {
        return environment.fromSequence(1, RECORDS).map(new Produce()).rebalance().map(new Consume());
    }

    /** Whether nothing keeps an output, of the first JobManager's tasks as of the second's. */
    private static boolean allReleased() {
        return Stream.concat(WatchedFactory.PARTITIONS.stream(), WatchedFactory.HYBRID.stream())
                .allMatch(ResultPartition::isReleased);
    }

    /**
     * Flink's TaskManagers keep outputs for another JobManager only if the shuffle is Flink's own: they compare the name
     * of its factory. With Faro's they release all outputs, and the job begins again, whichever its exchanges are.
     */
    @ParameterizedTest
    @CsvSource({
        "false, ALL_EXCHANGES_BLOCKING, ALL_EXCHANGES_BLOCKING, 1",
        "true, ALL_EXCHANGES_BLOCKING, ALL_EXCHANGES_BLOCKING, 2",
        "true, ALL_EXCHANGES_BLOCKING, ALL_EXCHANGES_HYBRID_FULL, 2",
        "true, ALL_EXCHANGES_BLOCKING, ALL_EXCHANGES_HYBRID_SELECTIVE, 2",
        "true, ALL_EXCHANGES_HYBRID_SELECTIVE, ALL_EXCHANGES_HYBRID_SELECTIVE, 2"})
    void theJobHasTheRightResult(boolean faro, String modeOfCluster, String modeOfJob, int runs) throws Exception {
        Map<String, String> options = Map.of(MODE, modeOfCluster, Cluster.RECOVERY, "true",
                "high-availability.storageDir", folder.resolve("events").toUri().toString());
        PRODUCERS.set(0);
        waiting = new CountDownLatch(1);
        lost = false;
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try (Cluster cluster = faro ? Cluster.faro(folder, PARALLELISM, options)
                : Cluster.stock(folder, PARALLELISM, options)) {
            Future<Cluster.Outcome> running = executor.submit(
                    () -> cluster.run(LostJobManagerTest::job, PARALLELISM, Map.of(MODE, modeOfJob)));
            while (!waiting.await(10, TimeUnit.MILLISECONDS) || cluster.finishedTasks() < PARALLELISM) {
                if (running.isDone()) {
                    throw new AssertionError("the job ended: " + running.get());
                }
            }
            lost = true;
            cluster.replaceJobMaster();
            List<String> expected = LongStream.rangeClosed(1, RECORDS).mapToObj(Long::toString).sorted().toList();
            assertEquals(expected, running.get().results());
            assertEquals(runs * PARALLELISM, PRODUCERS.get(), "runs of producers");
            while (faro && !allReleased()) {
                Thread.sleep(10);
            }
        } finally {
            executor.shutdownNow();
        }
    }
}
