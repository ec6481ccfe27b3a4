package dev.faro.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.Limits;
import dev.faro.MemoryBudget;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.codec.Codec;
import dev.faro.follow.Follower;
import dev.faro.index.RegionCache;
import dev.faro.storage.MemoryDestination;
import dev.faro.testing.Bringer;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingBudget;
import dev.faro.testing.RecordingListener;
import dev.faro.testing.Scrambled;
import dev.faro.writer.Finished;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The memory that readers ask an engine for: they go on without what makes them faster, and give all of it back. */
@Timeout(120)
class ReaderBudgetTest {
    private static final int PARTITIONS = 6;
    private static final long MUCH = 1L << 40;

    @TempDir
    Path folder;
    private Path name;

    /** One way of reading; returns everything that was read. */
    private interface Way {
        List<String> read(ReaderOptions options, RecordingBudget budget) throws FaroException, IOException;
    }

    @BeforeEach
    void write() throws FaroException {
        name = folder.resolve("output");
        try (Writer writer = Writer.create(name, options())) {
            write(writer);
            writer.finish();
        }
    }

    private static WriterOptions options() {
        return new WriterOptions(PARTITIONS).codec(Codec.ZSTD).dictionaries(true).ordered(false).blockSize(8000);
    }

    /** Three regions with a dictionary, own and shared extents, blocks of many sizes, some of them above 4 KiB. */
    private static void write(Writer writer) throws FaroException {
        Random random = new Random(5);
        byte[] first = new byte[200];
        random.nextBytes(first);
        for (int region = 0; region < 3; region++) {
            byte[] record = first.clone();
            for (int i = 0; i < 2500; i++) {
                record[random.nextInt(20)] = (byte) random.nextInt(4);
                if (i > 1500) {
                    // So that these blocks are larger than 4 KiB.
                    random.nextBytes(record);
                }
                ByteBuffer bytes = ByteBuffer.wrap(record);
                switch (i % 50) {
                    case 0 -> writer.broadcast(bytes);
                    case 1 -> writer.multicast(new int[] {i % PARTITIONS, 1}, bytes);
                    default -> writer.write(i % PARTITIONS, bytes);
                }
            }
            writer.flush();
        }
    }

    private Reader open(ReaderOptions options, RecordingBudget budget) throws FaroException {
        Reader reader = Reader.open(name, options);
        return asking(reader, budget);
    }

    private static <R extends PartitionReader> R asking(R reader, RecordingBudget budget) {
        if (budget != null) {
            budget.asks(() -> {
                assertTrue(reader.figures().memoryUsed() >= 0);
                assertTrue(reader.memoryUsed() >= 0);
            });
        }
        return reader;
    }

    private static List<String> partitions(PartitionReader reader) throws FaroException {
        List<String> all = new ArrayList<>();
        for (int p = 0; p < PARTITIONS; p++) {
            all.addAll(Scrambled.transcript(reader.partition(p)));
        }
        return all;
    }

    private List<Way> ways() {
        return List.of((options, budget) -> {
            try (Reader reader = open(options, budget)) {
                return partitions(reader);
            }
        }, (options, budget) -> {
            try (Reader reader = open(options.withLookup(Lookup.DIRECT), budget)) {
                return partitions(reader);
            }
        }, (options, budget) -> {
            try (Reader reader = open(options, budget)) {
                return Scrambled.transcript(reader.all());
            }
        }, (options, budget) -> {
            try (Reader reader = open(options, budget)) {
                return Scrambled.transcript(reader.byPartition(0, PARTITIONS));
            }
        }, (options, budget) -> {
            try (Follower follower = asking(Follower.open(name, options), budget)) {
                follower.poll();
                return partitions(follower);
            }
        }, (options, budget) -> {
            Bringer bringer = new Bringer(Outputs.files(name, Layout.PAIRED));
            try (Reader reader = asking(bringer.open(options), budget)) {
                List<String> all = new ArrayList<>();
                for (int p = 0; p < PARTITIONS; p++) {
                    all.addAll(bringer.transcript(new Feed(reader, p, p + 1, bringer::taken)));
                }
                return all;
            }
        }, (options, budget) -> {
            try (Reader reader = open(options, budget)) {
                return List.of(Check.check(reader, CheckLevel.DECODE).toString());
            } catch (FaroException e) {
                return List.of(e.getMessage());
            }
        }, (options, budget) -> {
            try (Writer writer = Writer.createIn(new MemoryDestination("m"), options())) {
                write(writer);
                Finished finished = writer.finishAndOpen(options);
                try (Reader reader = finished.reader()) {
                    return partitions(reader);
                }
            }
        });
    }

    /** Whatever is refused: the same blocks, or, for a dictionary only, a clear error. */
    @Test
    void aRefusalAtEveryRequest() throws Exception {
        int clean = 0;
        int whole = 0;
        for (int which = 0; which < ways().size(); which++) {
            Way way = ways().get(which);
            List<String> expected = way.read(ReaderOptions.DEFAULT, null);
            assertFalse(String.join("\n", expected).contains("refused"));
            int calls = 1;
            for (int refused = 0; refused < calls; refused++) {
                for (boolean forGood : new boolean[] {false, true}) {
                    String context = "way " + which + ", refused " + refused + (forGood ? " and on" : "");
                    RecordingBudget budget = new RecordingBudget(MUCH);
                    if (forGood) {
                        budget.refuseFrom(refused);
                    } else {
                        budget.refuse(refused);
                    }
                    List<String> found = way.read(ReaderOptions.DEFAULT.withMemoryBudget(budget), budget);
                    budget.checkEnd(context);
                    if (!forGood) {
                        calls = budget.calls();
                    }
                    if (found.equals(expected)) {
                        whole++;
                        continue;
                    }
                    clean++;
                    // A reading may end with a refused dictionary; what it has delivered before is a beginning.
                    List<String> faults = found.stream().filter(each -> !expected.contains(each)).toList();
                    assertFalse(faults.isEmpty(), context);
                    faults.forEach(each -> assertTrue(
                            each.contains("memory for a dictionary") && each.contains("out of memory: it was refused"),
                            context + ": " + each));
                }
            }
            assertTrue(calls >= 3, calls + " requests of way " + which);
        }
        assertTrue(clean > ways().size() && whole > 4 * ways().size(), clean + " and " + whole);
    }

    /** What the engine throws leaves the call, and nothing stays granted. */
    @Test
    void aBudgetThatFails() throws Exception {
        int thrown = 0;
        for (Way way : ways()) {
            List<String> expected = way.read(ReaderOptions.DEFAULT, null);
            for (boolean shrink : new boolean[] {false, true}) {
                int calls = 1;
                for (int failing = 0; failing < calls; failing++) {
                    RecordingBudget budget = new RecordingBudget(MUCH);
                    if (shrink) {
                        budget.failShrink(failing);
                    } else {
                        budget.fail(failing);
                    }
                    try {
                        assertEquals(expected, way.read(ReaderOptions.DEFAULT.withMemoryBudget(budget), budget));
                    } catch (IllegalStateException e) {
                        assertEquals("drawn", e.getMessage());
                        thrown++;
                    }
                    budget.checkEnd("failing " + failing + (shrink ? " of shrink" : ""));
                    calls = Math.max(calls, shrink ? budget.shrinks() : budget.calls());
                }
            }
        }
        assertTrue(thrown > 20, thrown + " thrown");
    }

    /** A second call after a failure in the middle of a step must not pass over blocks. */
    @Test
    void aCursorThatTheBudgetStoppedHasFailed() throws Exception {
        RecordingBudget budget = new RecordingBudget(MUCH).fail(0);
        try (Reader reader = Reader.open(name, ReaderOptions.DEFAULT.withMemoryBudget(budget));
                BlockCursor blocks = reader.byPartition(0, reader.header().partitionCount())) {
            assertThrows(IllegalStateException.class, blocks::next);
            assertEquals(ErrorCode.IO, assertThrows(FaroException.class, blocks::next).code());
        }
        budget.checkEnd("stopped");
    }

    /** A refused window reads what the next block needs; a granted one reads all blocks at once. */
    @Test
    void aWindowIsAskedFor() throws Exception {
        long readsWith;
        RecordingBudget all = new RecordingBudget(MUCH);
        ReaderOptions cacheless = ReaderOptions.DEFAULT.withCacheBytes(0);
        try (Reader reader = Reader.open(name, cacheless.withMemoryBudget(all))) {
            long before = reader.figures().reads();
            try (BlockCursor blocks = reader.range(0, PARTITIONS)) {
                assertTrue(blocks.next());
                assertTrue(all.granted() > 100_000 && all.granted() <= 256 << 10, all.granted() + " bytes");
                while (blocks.next()) {}
                assertEquals(0, all.granted(), "given back at the end");
            }
            readsWith = reader.figures().reads() - before;
            BlockCursor left = reader.partition(0);
            left.next();
            left.close();
            assertEquals(0, all.granted(), "given back when it is closed early");
            assertEquals(0, reader.figures().memoryRefusals());
        }
        RecordingBudget none = new RecordingBudget(0);
        try (Reader reader = Reader.open(name, cacheless.withMemoryBudget(none))) {
            long before = reader.figures().reads();
            int count = 0;
            try (BlockCursor blocks = reader.range(0, PARTITIONS)) {
                while (blocks.next()) {
                    count++;
                }
            }
            long reads = reader.figures().reads() - before;
            assertTrue(reads > 4 * readsWith && reads < 2L * count + 10, reads + " reads of " + count + " blocks");
            assertTrue(none.refusals() > 0);
            assertEquals(none.refusals(), reader.figures().memoryRefusals());
        }
        assertEquals(0, none.most());
    }

    @Test
    void aWindowOfPartitionsIsAskedFor() throws Exception {
        RecordingBudget budget = new RecordingBudget(MUCH);
        ReaderOptions cacheless = ReaderOptions.DEFAULT.withCacheBytes(0);
        try (Reader reader = Reader.open(name, cacheless.withMemoryBudget(budget));
                BlockCursor blocks = reader.byPartition(0, PARTITIONS)) {
            assertTrue(blocks.next());
            assertTrue(budget.granted() > 512 << 10, budget.granted() + " bytes");
            while (blocks.next()) {}
            assertEquals(0, budget.granted());
        }
    }

    /** The fault ends the reading, and its memory is back before the cursor is closed. */
    @Test
    void aFaultGivesTheWindowBack() throws Exception {
        RecordingBudget budget = new RecordingBudget(MUCH).refuse(2);
        try (Reader reader = Reader.open(name,
                ReaderOptions.DEFAULT.withCacheBytes(0).withMemoryBudget(budget.refuse(1)))) {
            BlockCursor blocks = reader.partition(0);
            assertTrue(blocks.next());
            assertTrue(budget.granted() > 0);
            FaroException e = assertThrows(FaroException.class, blocks::payload);
            assertEquals(ErrorCode.IO, e.code());
            assertEquals(0, budget.granted());
            assertEquals(e.getMessage(), assertThrows(FaroException.class, blocks::next).getMessage());
            assertThrows(IllegalStateException.class, blocks::storedPayload);
            blocks.close();
            // The dictionary may be granted the next time.
            assertEquals(Scrambled.transcript(reader.partition(0)), Scrambled.transcript(reader.partition(0)));
        }
        budget.checkEnd("after the fault");
    }

    /** A dictionary that is larger than the limit is not a matter of memory. */
    @Test
    void aLimitComesBeforeABudget() throws Exception {
        RecordingBudget none = new RecordingBudget(0);
        ReaderOptions options = ReaderOptions.DEFAULT.withLimits(Limits.DEFAULT.withMaxDictionarySize(1));
        try (Reader reader = Reader.open(name, options.withMemoryBudget(none))) {
            FaroException e = assertThrows(FaroException.class, () -> reader.output().dictionaries().digest(1));
            assertEquals(ErrorCode.LIMIT_EXCEEDED, e.code());
        }
        none.checkEnd("limit");
    }

    /** What another thread is making needs no memory of its own: there is enough for one. */
    @Test
    void threadsThatNeedOneDictionaryNeedItsMemoryOnce() throws Exception {
        CountDownLatch second = new CountDownLatch(1);
        AtomicInteger calls = new AtomicInteger();
        MemoryBudget one = new MemoryBudget() {
            @Override
            public boolean tryGrow(long bytes) {
                if (calls.getAndIncrement() > 0) {
                    second.countDown();
                    return false;
                }
                try {
                    return second.await(60, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    return false;
                }
            }

            @Override
            public void shrink(long bytes) {}
        };
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (Reader reader = Reader.open(name, ReaderOptions.DEFAULT.withMemoryBudget(one))) {
            Callable<Object> need = () -> reader.output().dictionaries().digest(1);
            List<Future<Object>> both = threads.invokeAll(List.of(need, need));
            assertSame(both.get(0).get(), both.get(1).get());
            assertEquals(2, calls.get());
        } finally {
            threads.shutdownNow();
        }
    }

    /** A fault that a poll of a feed finds outside of its blocks stays, and reaches the listener once. */
    @Test
    void aFeedThatHasFailedStaysSo() throws Exception {
        RecordingListener listener = new RecordingListener();
        ReaderOptions options = ReaderOptions.DEFAULT.withListener(listener);
        Bringer bringer = new Bringer(Outputs.files(name, Layout.PAIRED));
        try (Reader reader = bringer.open(options.withMemoryBudget(new RecordingBudget(0)))) {
            listener.take();
            Feed feed = new Feed(reader, 0, PARTITIONS, bringer::taken);
            List<String> transcript = bringer.transcript(feed);
            String fault = transcript.get(transcript.size() - 1);
            assertTrue(fault.contains("memory for a dictionary"), fault);
            assertEquals(fault, assertThrows(FaroException.class, feed::poll).getMessage());
            assertEquals(List.of("fault io"), listener.take());
        }
    }

    private long sizeOfRegion(int region) throws FaroException {
        try (Reader reader = Reader.open(name, ReaderOptions.DEFAULT)) {
            reader.region(region);
            return reader.memoryUsed();
        }
    }

    @Test
    void aSharedCacheHasItsOwnBudget() throws Exception {
        RecordingBudget own = new RecordingBudget(MUCH);
        RecordingBudget ofCache = new RecordingBudget(MUCH);
        RegionCache cache = new RegionCache(1 << 20, ofCache);
        ofCache.asks(() -> assertTrue(cache.memoryUsed() >= 0));
        ReaderOptions options = ReaderOptions.DEFAULT.withRegionCache(cache).withMemoryBudget(own);
        Reader first = Reader.open(name, options);
        Reader second = Reader.open(name, options);
        first.region(0);
        second.region(0);
        first.region(1);
        assertEquals(cache.memoryUsed(), ofCache.granted());
        assertEquals(0, own.calls());
        first.close();
        assertEquals(cache.memoryUsed(), ofCache.granted());
        assertTrue(ofCache.granted() > 0);
        second.close();
        ofCache.checkEnd("of the cache");
        // An older region makes room for one that is refused.
        RecordingBudget little = new RecordingBudget(Math.max(sizeOfRegion(0), sizeOfRegion(1)));
        RegionCache small = new RegionCache(1 << 20, little);
        try (Reader reader = Reader.open(name, ReaderOptions.DEFAULT.withRegionCache(small))) {
            for (int region : new int[] {0, 1, 1, 0}) {
                reader.region(region);
                assertEquals(sizeOfRegion(region), small.memoryUsed());
            }
            assertEquals(1, reader.figures().regionsCached());
        }
        little.checkEnd("of the small cache");
    }

    /** An evicted region is given back, so the budget has what the cache has. */
    @Test
    void evictedRegionsAreGivenBack() throws Exception {
        RecordingBudget budget = new RecordingBudget(MUCH);
        try (Reader reader = Reader.open(name, ReaderOptions.DEFAULT.withCacheBytes(600).withMemoryBudget(budget))) {
            for (int i = 0; i < 9; i++) {
                reader.region(i % 3);
                assertEquals(reader.memoryUsed(), budget.granted());
                assertTrue(reader.memoryUsed() > 0 && reader.memoryUsed() <= 600);
            }
        }
        budget.checkEnd("after evictions");
    }

    /** Threads under one limit read the same, and never have more than the limit. */
    @Test
    void concurrentReaders() throws Exception {
        List<String> expected;
        try (Reader reader = Reader.open(name, ReaderOptions.DEFAULT)) {
            expected = partitions(reader);
        }
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (long limit : new long[] {300_000, 600_000, 10 << 20}) {
                RecordingBudget budget = new RecordingBudget(limit);
                ReaderOptions options = ReaderOptions.DEFAULT.withMemoryBudget(budget);
                try (Reader shared = Reader.open(name, options)) {
                    // So that no dictionary is refused.
                    for (int dictionary = 0; dictionary < shared.dictionaryCount(); dictionary++) {
                        shared.output().dictionaries().digest(dictionary + 1);
                    }
                    List<Future<?>> all = new ArrayList<>();
                    for (int i = 0; i < 8; i++) {
                        boolean together = i % 2 == 0;
                        all.add(threads.submit(() -> {
                            for (int repeat = 0; repeat < 5; repeat++) {
                                assertEquals(expected, together
                                        ? Scrambled.transcript(shared.byPartition(0, PARTITIONS)) : partitions(shared));
                            }
                            return null;
                        }));
                    }
                    for (Future<?> each : all) {
                        each.get();
                    }
                }
                budget.checkEnd("limit " + limit);
                assertTrue(budget.most() <= limit);
                assertEquals(limit < 10 << 20, budget.refusals() > 0);
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
