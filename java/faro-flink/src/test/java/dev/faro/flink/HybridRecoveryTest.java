package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Consumers that read while producers write, and what runs again when one of them fails.
 *
 * <p>With the constraint ALL_PRODUCERS_FINISHED a job of Flink's own shuffle waits for ever when a producer has to run
 * again (selective mode, 2.3.0), and so does one of Faro's: the scheduler does not start it. So failures are tested without.
 */
@Timeout(240)
class HybridRecoveryTest {
    private static final int SLOTS = 2;
    private static final int PARALLELISM = 4;
    private static final String FULL = "ALL_EXCHANGES_HYBRID_FULL";
    private static final String SELECTIVE = "ALL_EXCHANGES_HYBRID_SELECTIVE";
    private static final String MODE = "execution.batch-shuffle-mode";
    private static final String MEMORY = "faro.hybrid.memory";
    private static final int MOVED = 200_000;

    @TempDir
    Path folder;

    @AfterAll
    static void forget() {
        WatchedFactory.reset();
    }

    private static final AtomicInteger PRODUCERS = new AtomicInteger();
    private static final AtomicInteger CONSUMERS = new AtomicInteger();
    private static final AtomicBoolean FAILS = new AtomicBoolean();
    private static final AtomicBoolean PRODUCER_FAILS = new AtomicBoolean();
    private static final AtomicBoolean SECOND_ATTEMPT = new AtomicBoolean();
    /** Whether producers are slow until a consumer has taken a record. */
    private static final AtomicBoolean SLOW = new AtomicBoolean();
    private static final AtomicLong FIRST_TAKEN = new AtomicLong();
    private static final AtomicLong LAST_MADE = new AtomicLong();

    /** The first attempt of one producer fails when consumers have begun to read, if that is wanted. */
    private static final class Makes extends RichMapFunction<Long, Long> {
        private static final long serialVersionUID = 1;
        private int made;

        @Override
        public void open(OpenContext context) {
            PRODUCERS.incrementAndGet();
        }

        @Override
        public Long map(Long number) throws InterruptedException {
            if (SLOW.get() && FIRST_TAKEN.get() == 0) {
                Thread.sleep(1);
            }
            if (++made == MOVED / PARALLELISM / 2 && PRODUCER_FAILS.compareAndSet(true, false)) {
                while (FIRST_TAKEN.get() == 0) {
                    Thread.sleep(1);
                }
                throw new IllegalStateException("a producer that fails");
            }
            LAST_MADE.set(System.nanoTime());
            return number;
        }
    }

    /** The first attempt of one consumer fails half-way, if that is wanted. */
    private static final class Takes extends RichMapFunction<Long, String> {
        private static final long serialVersionUID = 1;
        private int taken;

        @Override
        public void open(OpenContext context) {
            CONSUMERS.incrementAndGet();
        }

        @Override
        public String map(Long number) {
            FIRST_TAKEN.compareAndSet(0, System.nanoTime());
            if (++taken == MOVED / PARALLELISM / 2 && FAILS.compareAndSet(true, false)) {
                throw new IllegalStateException("a consumer that fails");
            }
            return String.valueOf(number);
        }
    }

    /** Waits in the first attempt of the first task until a second attempt has begun. */
    private static final class Waits extends RichMapFunction<Long, String> {
        private static final long serialVersionUID = 1;

        @Override
        public void open(OpenContext context) {
            if (getRuntimeContext().getTaskInfo().getAttemptNumber() > 0) {
                SECOND_ATTEMPT.set(true);
            }
        }

        @Override
        public String map(Long number) throws InterruptedException {
            boolean first = getRuntimeContext().getTaskInfo().getAttemptNumber() == 0
                    && getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() == 0;
            while (first && !SECOND_ATTEMPT.get()) {
                Thread.sleep(10);
            }
            return String.valueOf(number);
        }
    }

    private static DataStream<String> waited(StreamExecutionEnvironment environment) {
        return environment.fromSequence(1, MOVED).map(new Makes()).rebalance().map(new Waits());
    }

    private static DataStream<String> moved(StreamExecutionEnvironment environment) {
        return environment.fromSequence(1, MOVED).map(new Makes()).rebalance().map(new Takes());
    }

    private static List<String> movedNumbers() {
        return LongStream.rangeClosed(1, MOVED).mapToObj(String::valueOf).sorted().toList();
    }

    private static void begin(boolean fails) {
        PRODUCERS.set(0);
        CONSUMERS.set(0);
        FAILS.set(fails);
        PRODUCER_FAILS.set(false);
        SECOND_ATTEMPT.set(false);
        FIRST_TAKEN.set(0);
        LAST_MADE.set(0);
        SLOW.set(false);
    }

    /** A consumer that is slow gets a second attempt, which reads what the first has read. */
    @ParameterizedTest
    @CsvSource({FULL + ",0b", FULL + ",64mb", SELECTIVE + ",0b", SELECTIVE + ",64mb"})
    void aSlowConsumer(String mode, String memory) throws Exception {
        begin(false);
        try (Cluster faro = Cluster.faro(folder, 2 * SLOTS, Map.of(MODE, mode, MEMORY, memory,
                "execution.batch.speculative.enabled", "true",
                "execution.batch.speculative.block-slow-node-duration", "0 s",
                "slow-task-detector.check-interval", "50 ms",
                "slow-task-detector.execution-time.baseline-lower-bound", "200 ms"))) {
            assertEquals(movedNumbers(), faro.run(HybridRecoveryTest::waited, PARALLELISM).results());
        }
        assertTrue(SECOND_ATTEMPT.get());
        HybridJobsTest.nothingIsLeft(folder);
    }

    @ParameterizedTest
    @ValueSource(strings = {FULL, SELECTIVE})
    void consumersTakeRecordsBeforeProducersAreDone(String mode) throws Exception {
        begin(false);
        SLOW.set(true);
        // Producers and consumers at once, each in a slot of its own.
        try (Cluster faro = Cluster.faro(folder, 2 * SLOTS, Map.of(MODE, mode))) {
            assertEquals(movedNumbers(), faro.run(HybridRecoveryTest::moved, PARALLELISM).results());
        }
        assertTrue(FIRST_TAKEN.get() < LAST_MADE.get(),
                () -> (FIRST_TAKEN.get() - LAST_MADE.get()) / 1_000_000 + " ms after the last was made");
    }

    /** In full mode only the consumer runs again; in selective mode its producers do, too. */
    @ParameterizedTest
    @CsvSource({FULL + ",0b", FULL + ",64mb", SELECTIVE + ",0b", SELECTIVE + ",64mb"})
    void aConsumerFails(String mode, String memory) throws Exception {
        begin(true);
        try (Cluster faro = Cluster.faro(folder, 2 * SLOTS, Map.of(MODE, mode, MEMORY, memory))) {
            assertEquals(movedNumbers(), faro.run(HybridRecoveryTest::moved, PARALLELISM).results());
        }
        assertFalse(FAILS.get(), "a consumer failed");
        assertEquals(mode.equals(FULL), PRODUCERS.get() == PARALLELISM, () -> PRODUCERS + " runs of producers");
        assertTrue(CONSUMERS.get() > PARALLELISM);
        HybridJobsTest.nothingIsLeft(folder);
    }

    /** A producer fails half-way, and its consumers have begun to read. */
    @ParameterizedTest
    @CsvSource({FULL + ",0b", FULL + ",64mb", SELECTIVE + ",0b", SELECTIVE + ",64mb"})
    void aProducerFails(String mode, String memory) throws Exception {
        begin(false);
        PRODUCER_FAILS.set(true);
        try (Cluster faro = Cluster.faro(folder, 2 * SLOTS, Map.of(MODE, mode, MEMORY, memory))) {
            assertEquals(movedNumbers(), faro.run(HybridRecoveryTest::moved, PARALLELISM).results());
        }
        assertFalse(PRODUCER_FAILS.get(), "a producer failed");
        assertTrue(PRODUCERS.get() > PARALLELISM, () -> PRODUCERS + " runs of producers");
        assertTrue(CONSUMERS.get() > PARALLELISM, () -> CONSUMERS + " runs of consumers");
        HybridJobsTest.nothingIsLeft(folder);
    }

    /** A flipped bit in a region that was written, or a file that was cut, makes the producer run again. */
    @ParameterizedTest
    @CsvSource({FULL + ",false", FULL + ",true", SELECTIVE + ",false", SELECTIVE + ",true"})
    void damageToAFile(String mode, boolean cut) throws Exception {
        begin(false);
        AtomicBoolean damaged = new AtomicBoolean();
        // With one slot in each task manager some consumers begin when producers are done.
        try (Cluster faro = Cluster.faro(folder, 1, Map.of(MODE, mode, MEMORY, "0b"))) {
            WatchedFactory.beforeReading = partitions -> {
                boolean written = !WatchedFactory.HYBRID.isEmpty() && WatchedFactory.HYBRID.get(0).isFinished();
                if (written && damaged.compareAndSet(false, true)) {
                    damage(Path.of(WatchedFactory.HYBRID.get(0).settings().name() + ".data"), cut);
                }
            };
            assertEquals(movedNumbers(), faro.run(HybridRecoveryTest::moved, PARALLELISM).results());
        }
        assertTrue(damaged.get());
        assertTrue(PRODUCERS.get() > PARALLELISM, () -> PRODUCERS + " runs of producers");
    }

    private static void damage(Path file, boolean cut) {
        try (RandomAccessFile data = new RandomAccessFile(file.toFile(), "rw")) {
            if (cut) {
                data.setLength(data.length() / 2);
                return;
            }
            data.seek(data.length() / 2);
            int before = data.read();
            data.seek(data.length() / 2);
            data.write(before ^ 8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @CsvSource({FULL + ",0b", FULL + ",64mb", SELECTIVE + ",0b", SELECTIVE + ",64mb"})
    void aTaskManagerIsLost(String mode, String memory) throws Exception {
        begin(false);
        AtomicReference<CompletableFuture<Void>> lost = new AtomicReference<>();
        try (Cluster faro = Cluster.faro(folder, SLOTS, Map.of(MODE, mode, MEMORY, memory))) {
            WatchedFactory.beforeReading = partitions -> {
                if (lost.compareAndSet(null, new CompletableFuture<>())) {
                    CompletableFuture.runAsync(() -> faro.replaceTaskManager(0)).whenComplete((done, fault) -> {
                        if (fault == null) {
                            lost.get().complete(null);
                        } else {
                            lost.get().completeExceptionally(fault);
                        }
                    });
                }
            };
            assertEquals(movedNumbers(), faro.run(HybridRecoveryTest::moved, PARALLELISM).results());
            lost.get().join();
        }
        assertTrue(PRODUCERS.get() > PARALLELISM, () -> PRODUCERS + " runs of producers");
    }
}
