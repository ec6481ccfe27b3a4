package dev.faro.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.Buffers;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.MemoryRefusedException;
import dev.faro.reader.Feed;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.storage.MemoryFile;
import dev.faro.storage.StoredFile;
import dev.faro.storage.StoredOutput;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingBudget;
import dev.faro.testing.Scrambled;
import dev.faro.writer.Layout;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The memory that a scheduler asks an engine for: no consumer waits for ever after a refusal, and all of it is back. */
@Timeout(120)
class SchedulerBudgetTest {
    private static final int PARTITIONS = 6;
    private static final int LEAST = 4096;
    private static final long MUCH = 1L << 40;
    private static final SchedulerOptions OPTIONS =
            SchedulerOptions.DEFAULT.withReadBytes(64 << 10).withBudgetBytes(256 << 10);

    @TempDir
    Path folder;
    private Reader small;
    private Reader large;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Throwable> surfaced = new ArrayList<>();

    @BeforeEach
    void write() throws FaroException {
        Outputs.even(folder.resolve("small"), PARTITIONS, 4, 700);
        Outputs.even(folder.resolve("large"), PARTITIONS, 3, 30_000);
        small = Outputs.open(folder.resolve("small"), Layout.PAIRED);
        large = Outputs.open(folder.resolve("large"), Layout.PAIRED);
    }

    @AfterEach
    void close() throws FaroException {
        threads.shutdownNow();
        small.close();
        large.close();
    }

    private static List<String> expected(Reader reader, int partition) throws FaroException {
        return Scrambled.transcript(reader.partition(partition));
    }

    private static Scheduler make(SchedulerOptions options, RecordingBudget budget) throws FaroException {
        Scheduler scheduler = new Scheduler(options.withMemoryBudget(budget));
        budget.asks(() -> assertTrue(scheduler.figures().heldBytes() >= 0));
        return scheduler;
    }

    /** A consumer, and what it has read. */
    private static final class Reading {
        final Reader reader;
        final int partition;
        final Consumer consumer;
        final List<String> transcript = new ArrayList<>();
        boolean done;

        Reading(Scheduler scheduler, Reader reader, int partition) throws FaroException {
            this.reader = reader;
            this.partition = partition;
            this.consumer = scheduler.partition(reader, partition);
        }

        /** Takes what is there. */
        void take() throws FaroException {
            Feed.State state = consumer.poll();
            while (state == Feed.State.BLOCK) {
                transcript.add(Scrambled.describe(consumer.block()));
                state = consumer.poll();
            }
            done = state == Feed.State.END;
        }
    }

    /** Makes a call again that the budget made fail. */
    private <T> T twice(java.util.concurrent.Callable<T> call) throws Exception {
        try {
            return call.call();
        } catch (IllegalStateException e) {
            assertEquals("drawn", e.getMessage());
            surfaced.add(e);
        } catch (FaroException e) {
            assertEquals(ErrorCode.IO, e.code());
            assertTrue(e.getMessage().contains("memory for a consumer"), e.getMessage());
            assertTrue(e.getCause() instanceof MemoryRefusedException, e.getMessage());
            assertTrue(e.getMessage().contains("out of memory: it was refused"), e.getMessage());
            surfaced.add(e);
        }
        return call.call();
    }

    /** Reads all partitions of both outputs, served by hand; closes each consumer at its end. */
    private void readAll(Scheduler scheduler, RecordingBudget budget) throws Exception {
        List<Reading> readings = new ArrayList<>();
        for (int p = 0; p < PARTITIONS; p++) {
            for (Reader reader : List.of(small, large)) {
                int partition = p;
                readings.add(twice(() -> new Reading(scheduler, reader, partition)));
            }
        }
        int idle = 0;
        while (!readings.isEmpty()) {
            boolean served = false;
            try {
                served = scheduler.serve();
            } catch (IllegalStateException e) {
                surfaced.add(e);
            }
            assertTrue(budget == null || scheduler.figures().heldBytes() <= budget.granted());
            for (Reading each : List.copyOf(readings)) {
                int before = each.transcript.size();
                twice(() -> {
                    each.take();
                    return null;
                });
                served |= each.transcript.size() > before || each.done;
                if (each.done) {
                    assertEquals(expected(each.reader, each.partition), each.transcript);
                    twice(() -> {
                        each.consumer.close();
                        return null;
                    });
                    readings.remove(each);
                }
            }
            idle = served ? 0 : idle + 1;
            assertTrue(idle < 5, () -> readings.size() + " readings wait for ever");
        }
    }

    @Test
    void aRefusalAtEveryRequest() throws Exception {
        int calls = 1;
        int clean = 0;
        for (int refused = 0; refused < calls; refused++) {
            for (boolean forGood : new boolean[] {false, true}) {
                RecordingBudget budget = new RecordingBudget(MUCH).refuse(refused);
                if (forGood && refused > 2 * PARTITIONS) {
                    budget.refuseFrom(refused);
                }
                surfaced.clear();
                try (Scheduler scheduler = make(OPTIONS, budget)) {
                    readAll(scheduler, budget);
                    budget.checkEnd("refused " + refused);
                }
                clean += surfaced.size();
                calls = Math.max(calls, forGood ? 1 : budget.calls());
            }
        }
        // Only the opening of a consumer fails, and may be repeated.
        assertEquals(2 * 2 * PARTITIONS, clean);
        assertTrue(calls > 3 * PARTITIONS, calls + " requests");
    }

    /** With the least share of each consumer and nothing else, all are read. */
    @Test
    void theLeastIsEnough() throws Exception {
        for (long limit = 2 * PARTITIONS * LEAST; limit <= 4 * PARTITIONS * LEAST; limit += 3000) {
            RecordingBudget budget = new RecordingBudget(limit);
            try (Scheduler scheduler = make(OPTIONS, budget)) {
                readAll(scheduler, budget);
                assertTrue(scheduler.figures().mostHeldBytes() <= limit);
                FaroException e = assertThrows(FaroException.class, () -> {
                    List<Consumer> many = new ArrayList<>();
                    try {
                        for (int i = 0; i < 100; i++) {
                            many.add(scheduler.partition(small, 0));
                        }
                    } finally {
                        assertEquals((long) LEAST * many.size(), budget.granted());
                        many.forEach(Consumer::close);
                    }
                });
                assertEquals(ErrorCode.IO, e.code());
                assertEquals(budget.refusals(), scheduler.figures().memoryRefusals());
            }
            budget.checkEnd("limit " + limit);
            assertTrue(budget.most() <= limit && budget.refusals() > 0);
        }
    }

    /** Nothing is asked for that is not wanted, and nothing reads less while all is granted. */
    @Test
    void asMuchAsIsWanted() throws Exception {
        SchedulerFigures without;
        try (Scheduler scheduler = new Scheduler(OPTIONS)) {
            readAll(scheduler, null);
            without = scheduler.figures();
        }
        RecordingBudget budget = new RecordingBudget(MUCH);
        try (Scheduler scheduler = make(OPTIONS, budget)) {
            readAll(scheduler, budget);
            assertTrue(scheduler.figures().reads() <= 2 * without.reads(), scheduler.figures() + " and " + without);
        }
        budget.checkEnd("unlimited");
        // The scheduler's own, and the memory in which reads for several consumers land.
        assertTrue(budget.most() <= OPTIONS.budgetBytes() + OPTIONS.readBytes(), budget.most() + " bytes");
        RecordingBudget little = new RecordingBudget(MUCH);
        try (Scheduler scheduler = make(SchedulerOptions.DEFAULT, little);
                Consumer consumer = scheduler.partition(small, 0)) {
            assertEquals(LEAST, little.granted());
            while (consumer.next()) {}
            assertTrue(little.most() <= 2 * LEAST, little.most() + " bytes for a small partition");
        }
        little.checkEnd("a small partition");
    }

    /** What is kept for reuse is dropped when it is not granted any more. */
    @Test
    void keptBuffersAreCounted() throws Exception {
        RecordingBudget budget = new RecordingBudget(MUCH);
        try (Scheduler scheduler = make(OPTIONS, budget)) {
            Consumer consumer = scheduler.partition(large, 0);
            Consumer other = scheduler.partition(large, 1);
            assertTrue(consumer.next() && other.next());
            long before = budget.granted();
            assertTrue(before > 2 * LEAST);
            consumer.close();
            assertTrue(budget.granted() < before);
            other.close();
        }
        budget.checkEnd("closed");
    }

    /** When the budget refuses more, memory that no consumer uses is enough for a new one. */
    @Test
    void aNewConsumerTakesWhatOthersSpare() throws Exception {
        RecordingBudget budget = new RecordingBudget(MUCH);
        try (Scheduler scheduler = make(OPTIONS, budget)) {
            List<Consumer> open = new ArrayList<>(List.of(scheduler.partition(large, 0)));
            while (open.get(0).poll() == Feed.State.NOT_YET) {
                scheduler.serve();
            }
            // It has taken what was read for it, which is still granted, and nothing more is read yet.
            assertEquals(Feed.State.NOT_YET, open.get(0).poll());
            budget.refuseFrom(budget.calls());
            FaroException refused = assertThrows(FaroException.class, () -> {
                while (open.size() <= budget.granted() / LEAST) {
                    open.add(scheduler.partition(large, 0));
                }
            });
            assertEquals(ErrorCode.IO, refused.code());
            assertTrue(open.size() > 2, "none is spared");
            while (open.get(0).next()) {}
            int blocks = expected(large, 0).size();
            for (Consumer consumer : open.subList(1, open.size())) {
                int found = 0;
                while (consumer.next()) {
                    found++;
                }
                assertEquals(blocks, found);
            }
            open.forEach(Consumer::close);
        }
        budget.checkEnd("spared");
    }

    /** Unused buffers are kept only as far as their memory is granted. */
    @Test
    void thePoolKeepsWhatIsGranted() throws Exception {
        Grants grants = new Grants(OPTIONS, new RecordingBudget(MUCH));
        PooledBuffers pool = new PooledBuffers(MUCH, grants);
        grants.opened(true);
        ByteBuffer first = pool.take(LEAST);
        pool.giveBack(first);
        assertSame(first, pool.take(LEAST), "kept");
        // The memory of a second one is in use now, so that the first may not be kept beside it.
        ByteBuffer second = pool.take(LEAST);
        pool.giveBack(first);
        pool.giveBack(second);
        assertSame(second, pool.take(LEAST));
        assertNotSame(first, pool.take(LEAST));
        pool.giveBack(second);
        grants.excess(true);
        pool.trim();
        assertNotSame(second, pool.take(LEAST), "dropped");
    }

    /** A thread that is interrupted while it reads for a consumer that is closed meanwhile gives everything back. */
    @Test
    void anInterruptAfterTheLastConsumer() throws Exception {
        RecordingBudget budget = new RecordingBudget(MUCH);
        List<Consumer> open = new ArrayList<>();
        byte[] data = Files.readAllBytes(Outputs.file(folder.resolve("small"), ".data"));
        byte[] index = Files.readAllBytes(Outputs.file(folder.resolve("small"), ".index"));
        MemoryFile bytes = new MemoryFile("data", ByteBuffer.wrap(data));
        StoredFile interrupting = new StoredFile() {
            @Override
            public long size() {
                return data.length;
            }

            @Override
            public int read(long offset, ByteBuffer target) throws IOException {
                if (open.isEmpty()) {
                    return bytes.read(offset, target);
                }
                open.remove(0).close();
                Thread.currentThread().interrupt();
                throw new InterruptedIOException();
            }

            @Override
            public String name() {
                return "data";
            }

            @Override
            public void close() {}
        };
        try (Reader reader = Reader.openStored(StoredOutput.paired(
                interrupting, new MemoryFile("index", ByteBuffer.wrap(index))), ReaderOptions.DEFAULT);
                Scheduler scheduler = make(OPTIONS, budget)) {
            budget.asks(null);
            open.add(scheduler.partition(reader, 0));
            assertThrows(FaroException.class, scheduler::serve);
            assertTrue(Thread.interrupted());
            budget.checkEnd("interrupted");
        }
    }

    /** What the engine throws comes out of a call, and ends no reading. */
    @Test
    void aBudgetThatFails() throws Exception {
        for (boolean shrink : new boolean[] {false, true}) {
            int calls = 1;
            int thrown = 0;
            for (int failing = 0; failing < calls; failing++) {
                RecordingBudget budget = new RecordingBudget(MUCH);
                if (shrink) {
                    budget.failShrink(failing);
                } else {
                    budget.fail(failing);
                }
                surfaced.clear();
                try (Scheduler scheduler = make(OPTIONS, budget)) {
                    readAll(scheduler, budget);
                }
                budget.checkEnd("failing " + failing);
                calls = shrink ? budget.shrinks() : budget.calls();
                assertEquals(failing < calls ? 1 : 0, surfaced.size(), "failing " + failing);
                thrown += surfaced.size();
            }
            assertTrue(thrown > 2 * PARTITIONS, thrown + " thrown");
        }
    }

    /** The memory of an engine's own buffers is not asked for; only that in which reads for several consumers land. */
    @Test
    void buffersOfTheEngineAreNotAskedFor() throws Exception {
        AtomicInteger out = new AtomicInteger();
        Buffers buffers = new Buffers() {
            @Override
            public ByteBuffer take(int wanted) {
                out.incrementAndGet();
                return ByteBuffer.allocateDirect(8192);
            }

            @Override
            public void giveBack(ByteBuffer buffer) {
                out.decrementAndGet();
            }
        };
        for (long limit : new long[] {0, MUCH}) {
            RecordingBudget budget = new RecordingBudget(limit);
            try (Scheduler scheduler = new Scheduler(OPTIONS.withMemoryBudget(budget), null, buffers)) {
                Consumer first = scheduler.partition(small, 0);
                assertEquals(0, budget.calls());
                first.close();
                readAll(scheduler, null);
                assertTrue(budget.calls() > 0);
                // A larger one is asked for before the smaller is given back.
                assertTrue(budget.most() <= 2 * OPTIONS.readBytes());
            }
            budget.checkEnd("limit " + limit);
            assertEquals(0, out.get());
        }
    }

    /** Memory in which reads land gives way to the buffers of consumers, which may be from the same account. */
    @Test
    void oneAccountForBuffersToo() throws Exception {
        RecordingBudget budget = new RecordingBudget(37_000);
        Buffers buffers = new Buffers() {
            @Override
            public ByteBuffer take(int wanted) {
                return budget.tryGrow(LEAST) ? ByteBuffer.allocateDirect(LEAST) : null;
            }

            @Override
            public void giveBack(ByteBuffer buffer) {
                budget.shrink(LEAST);
            }
        };
        try (Scheduler scheduler = new Scheduler(OPTIONS.withMemoryBudget(budget), null, buffers)) {
            List<Reading> readings = new ArrayList<>();
            for (int p = 0; p < 4; p++) {
                readings.add(new Reading(scheduler, small, p));
            }
            finish(scheduler, readings);
            assertTrue(budget.granted() > 37_000 - 32_768, budget.granted() + " bytes to land in");
            readings.add(new Reading(scheduler, large, 0));
            finish(scheduler, readings);
            assertEquals(expected(large, 0), readings.get(4).transcript);
            readings.forEach(each -> each.consumer.close());
        }
        budget.checkEnd("one account");
    }

    /** Reads to the ends, and leaves the consumers open. */
    private static void finish(Scheduler scheduler, List<Reading> readings) throws FaroException {
        for (int round = 0; readings.stream().anyMatch(each -> !each.done); round++) {
            assertTrue(round < 1000, "a reading waits for ever");
            scheduler.serve();
            for (Reading each : readings) {
                if (!each.done) {
                    each.take();
                }
            }
        }
    }

    /** Threads that wait, an executor that serves, and limits of which some are just enough. */
    @Test
    void concurrentConsumers() throws Exception {
        ExecutorService steps = Executors.newFixedThreadPool(3);
        try {
            for (int round = 0; round < 30; round++) {
                long limit = 8 * LEAST + round * 5000L;
                RecordingBudget budget = new RecordingBudget(limit);
                try (Scheduler scheduler = new Scheduler(OPTIONS.withMemoryBudget(budget), steps)) {
                    List<Future<?>> all = new ArrayList<>();
                    for (int i = 0; i < 8; i++) {
                        Reader reader = i % 2 == 0 ? small : large;
                        int partition = i % PARTITIONS;
                        boolean leaves = i == 7;
                        all.add(threads.submit(() -> {
                            for (int repeat = 0; repeat < 5; repeat++) {
                                Consumer consumer = open(scheduler, reader, partition);
                                if (leaves) {
                                    consumer.next();
                                    consumer.close();
                                } else {
                                    assertEquals(expected(reader, partition), Scrambled.transcript(consumer));
                                }
                            }
                            return null;
                        }));
                    }
                    for (Future<?> each : all) {
                        each.get();
                    }
                    // A step that is under way may still use memory.
                    long end = System.nanoTime() + 10_000_000_000L;
                    while (budget.granted() > 0 && System.nanoTime() < end) {
                        Thread.sleep(1);
                    }
                }
                budget.checkEnd("limit " + limit);
                assertTrue(budget.most() <= limit);
            }
        } finally {
            steps.shutdownNow();
        }
    }

    /** Opens a consumer when the others leave its least share. */
    private static Consumer open(Scheduler scheduler, Reader reader, int partition) throws Exception {
        while (true) {
            try {
                return scheduler.partition(reader, partition);
            } catch (FaroException e) {
                assertTrue(e.getMessage().contains("memory for a consumer"), e.getMessage());
                Thread.sleep(1);
            }
        }
    }

    @Test
    void theReadersBudgetIsItsOwn() throws Exception {
        RecordingBudget budget = new RecordingBudget(MUCH);
        RecordingBudget ofReader = new RecordingBudget(MUCH);
        try (Reader reader = Reader.open(folder.resolve("large"), ReaderOptions.DEFAULT.withMemoryBudget(ofReader));
                Scheduler scheduler = make(OPTIONS, budget);
                Consumer consumer = scheduler.partition(reader, 0)) {
            ofReader.asks(() -> assertTrue(scheduler.figures().heldBytes() + reader.memoryUsed() >= 0));
            assertTrue(consumer.next());
            assertEquals(reader.memoryUsed(), ofReader.granted());
        }
        budget.checkEnd("scheduler");
        ofReader.checkEnd("reader");
    }
}
