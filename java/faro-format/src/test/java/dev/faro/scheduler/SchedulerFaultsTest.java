package dev.faro.scheduler;

import static dev.faro.scheduler.SchedulerTest.PARTITIONS;
import static dev.faro.scheduler.SchedulerTest.REGIONS;
import static dev.faro.scheduler.SchedulerTest.openAll;
import static dev.faro.scheduler.SchedulerTest.openEven;
import static dev.faro.scheduler.SchedulerTest.pollInAnyOrder;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.reader.Feed;
import dev.faro.reader.Reader;
import dev.faro.scheduler.SchedulerTest.Counting;
import dev.faro.testing.RecordingFileSystem;
import dev.faro.testing.Scrambled;
import java.io.InterruptedIOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The rules of docs/scheduler.md for failures: readings that are closed, faults, interrupts, no memory. */
@Timeout(120)
class SchedulerFaultsTest {
    private final RecordingFileSystem system = new RecordingFileSystem();

    @TempDir
    Path folder;

    /** Rule 5: a consumer is closed between the choice of a read and its end. */
    @Test
    void closedWhileItIsReadFor() throws Exception {
        List<Consumer> consumers = new ArrayList<>();
        AtomicInteger left = new AtomicInteger(3);
        Counting buffers = new Counting(700) {
            @Override
            public ByteBuffer take(int wanted) {
                if (left.decrementAndGet() == 0) {
                    consumers.get(7).close();
                    consumers.get(40).close();
                }
                return super.take(wanted);
            }
        };
        try (Reader reader = openEven(folder, system);
                Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT, null, buffers)) {
            consumers.addAll(openAll(scheduler, reader));
            for (int i = 0; i < PARTITIONS; i++) {
                if (i == 7 || i == 40) {
                    continue;
                }
                assertEquals(Scrambled.transcript(reader.partition(i)), Scrambled.transcript(consumers.get(i)));
            }
            assertEquals(0, buffers.out(), "buffers of closed consumers were given back");
        }
    }

    /** Rule 5: all buffers come back, whenever consumers are closed. */
    @Test
    void closedAtAnyTime() throws Exception {
        for (int seed = 0; seed < 30; seed++) {
            Random random = new Random(seed);
            Counting buffers = new Counting(1500);
            try (Reader reader = openEven(folder, system);
                    Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT, null, buffers)) {
                List<Consumer> consumers = openAll(scheduler, reader);
                for (Consumer consumer : consumers) {
                    if (random.nextBoolean()) {
                        scheduler.serve();
                    }
                    if (random.nextBoolean()) {
                        consumer.poll();
                    }
                    consumer.close();
                }
                assertEquals(0, buffers.out());
                assertFalse(scheduler.serve() && scheduler.serve(), "nothing is left to do");
            }
        }
    }

    /**
     * Rule 6: a read that the system refuses is the fault of the consumers that wait for it; later ones are not
     * affected.
     */
    @Test
    void aReadThatIsRefused() throws Exception {
        try (Reader reader = openEven(folder, system); Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT)) {
            List<Consumer> consumers = openAll(scheduler, reader).subList(0, PARTITIONS / 2);
            for (int i = 0; i < REGIONS; i++) {
                reader.region(i);
            }
            system.refuseRead(0);
            assertTrue(scheduler.serve());
            Consumer late = scheduler.partition(reader, 3);
            for (Consumer consumer : consumers) {
                FaroException e = assertThrows(FaroException.class, consumer::next);
                assertEquals(ErrorCode.IO, e.code());
            }
            assertEquals(Scrambled.transcript(reader.partition(3)), Scrambled.transcript(late));
        }
    }

    /** Rule 6: if a file shrank, only the consumers that need the lost bytes get a fault. */
    @Test
    void aFileThatShrank() throws Exception {
        try (Reader reader = openEven(folder, system); Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT)) {
            List<Consumer> consumers = openAll(scheduler, reader);
            long cut = reader.region(0).start(30);
            try (FileChannel file = FileChannel.open(
                    folder.resolve("even.data"), StandardOpenOption.WRITE)) {
                file.truncate(cut);
            }
            for (int i = 0; i < PARTITIONS; i++) {
                Consumer consumer = consumers.get(i);
                int blocks = 0;
                FaroException fault = null;
                try {
                    while (consumer.next()) {
                        blocks++;
                    }
                } catch (FaroException e) {
                    fault = e;
                }
                assertEquals(ErrorCode.TRUNCATED, fault.code());
                assertEquals(cut, fault.offset());
                assertEquals(i < 30, blocks > 0, "partition " + i + ": " + blocks + " blocks of region 0");
            }
        }
    }

    /** An interrupt is not a fault of any reading: the step is left to the next call. */
    @Test
    void interruptsWhileServing() throws Exception {
        try (Reader reader = openEven(folder, system); Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT)) {
            List<Consumer> consumers = openAll(scheduler, reader);
            for (int i = 0; i < 4; i++) {
                system.interruptRead(i);
                FaroException e = assertThrows(FaroException.class, () -> {
                    while (scheduler.serve()) {
                        // Serves until the interrupt.
                    }
                });
                assertTrue(e.getCause() instanceof InterruptedIOException);
                assertTrue(Thread.interrupted());
            }
            system.refuseRead(-1);
            for (int i = 0; i < PARTITIONS; i++) {
                assertEquals(Scrambled.transcript(reader.partition(i)), Scrambled.transcript(consumers.get(i)));
            }
        }
    }

    /** An empty pool is called again after it wakes the scheduler. */
    @Test
    void anEmptyPool() throws Exception {
        Counting buffers = new Counting(6000);
        buffers.allowed = 0;
        try (Reader reader = openEven(folder, system);
                Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT, null, buffers)) {
            List<Consumer> consumers = openAll(scheduler, reader);
            int steps = 0;
            while (scheduler.serve()) {
                assertTrue(++steps < 10, "it waits for the pool");
            }
            assertEquals(Feed.State.NOT_YET, consumers.get(0).poll());
            buffers.allowed = 4;
            scheduler.wake();
            List<List<String>> expected = new ArrayList<>();
            for (int i = 0; i < PARTITIONS; i++) {
                expected.add(Scrambled.transcript(reader.partition(i)));
            }
            assertEquals(expected, pollInAnyOrder(scheduler, consumers, new Random(3)));
        }
    }

    /**
     * Rule 7: a listener that fails does not keep others from being called; the exception goes to the thread that
     * serves.
     */
    @Test
    void aListenerThatFails() throws Exception {
        try (Reader reader = openEven(folder, system); Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT)) {
            List<Consumer> consumers = openAll(scheduler, reader);
            AtomicInteger called = new AtomicInteger();
            for (Consumer consumer : consumers) {
                assertEquals(Feed.State.NOT_YET, consumer.poll());
                consumer.onReady(() -> {
                    if (called.getAndIncrement() < 2) {
                        throw new IllegalStateException("listener " + called);
                    }
                });
            }
            assertEquals("listener 1", assertThrows(IllegalStateException.class, scheduler::serve).getMessage());
            assertEquals(PARTITIONS, called.get());
        }
        Queue<Runnable> tasks = new ArrayDeque<>();
        try (Reader reader = openEven(folder, system);
                Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT.withGapBytes(0).withReadBytes(1 << 12)
                        .withBudgetBytes(1 << 13), tasks::add)) {
            Consumer failing = scheduler.partition(reader, 0);
            Consumer other = scheduler.partition(reader, 1);
            assertEquals(Feed.State.NOT_YET, failing.poll());
            failing.onReady(() -> {
                throw new AssertionError("a listener");
            });
            assertThrows(AssertionError.class, () -> runAll(tasks));
            List<String> transcript = new ArrayList<>();
            Feed.State state = Feed.State.BLOCK;
            while (state != Feed.State.END) {
                state = other.poll();
                if (state == Feed.State.BLOCK) {
                    transcript.add(Scrambled.describe(other.block()));
                } else if (state == Feed.State.NOT_YET) {
                    assertFalse(tasks.isEmpty(), "the next step was submitted before the failure was thrown");
                    runAll(tasks);
                }
            }
            assertEquals(Scrambled.transcript(reader.partition(1)), transcript);
        }
    }

    private static void runAll(Queue<Runnable> tasks) {
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
    }

    /** All readings end if an executor rejects tasks, or the scheduler is closed. */
    @Test
    void theEndOfTheScheduler() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try (Reader reader = openEven(folder, system)) {
            executor.shutdownNow();
            Scheduler refused = new Scheduler(SchedulerOptions.DEFAULT, executor);
            Consumer consumer = refused.partition(reader, 1);
            assertEquals(ErrorCode.IO, assertThrows(FaroException.class, consumer::next).code());
            Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT);
            Consumer open = scheduler.partition(reader, 1);
            scheduler.close();
            assertEquals(ErrorCode.IO, assertThrows(FaroException.class, open::next).code());
            assertEquals(ErrorCode.INVALID_ARGUMENT,
                    assertThrows(FaroException.class, () -> scheduler.partition(reader, 1)).code());
            assertThrows(FaroException.class, () -> refused.partition(reader, PARTITIONS));
        }
    }

    /** Opens a reading whose task the executor keeps, and closes it and its reader. */
    private WeakReference<Reader> leave(Scheduler scheduler) throws Exception {
        try (Reader reader = openEven(folder, system)) {
            scheduler.partition(reader, 1).close();
            return new WeakReference<>(reader);
        }
    }

    /** A file whose consumers were closed before its step is forgotten, even if a rejected task ends all steps. */
    @Test
    void aRejectedTaskKeepsNoFile() throws Exception {
        Queue<Runnable> tasks = new ArrayDeque<>();
        Executor executor = task -> {
            if (!tasks.isEmpty()) {
                throw new RejectedExecutionException("full");
            }
            tasks.add(task);
        };
        try (Reader other = openEven(folder, system);
                Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT, executor)) {
            WeakReference<Reader> left = leave(scheduler);
            Consumer refused = scheduler.partition(other, 1);
            assertEquals(ErrorCode.IO, assertThrows(FaroException.class, refused::next).code());
            runAll(tasks);
            for (int i = 0; i < 200 && left.get() != null; i++) {
                System.gc();
                Thread.sleep(10);
            }
            assertNull(left.get(), "the scheduler keeps a reader without consumers");
        }
    }
}
