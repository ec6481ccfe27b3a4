package dev.faro.hybrid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.codec.Codec;
import dev.faro.index.Streams;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingListener;
import dev.faro.writer.Durability;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Hybrid stores (HYB), compared with an ordinary writer that gets the same calls. */
class HybridStoreTest {
    /** How many are drawn in each mode: a sample, unless the property says otherwise. */
    private static final int INTERLEAVINGS = Integer.getInteger("faro.interleavings", 500);

    @TempDir
    private Path folder;

    /** The first numbers of generators whose seeds are neighbours are alike, so the seeds are far apart. */
    private static Random random(long seed) {
        return new Random(seed * 0x9E3779B97F4A7C15L);
    }

    private static WriterOptions options(Random random, int partitions) {
        return new WriterOptions(partitions).firstPartition(random.nextInt(2) * 5).fileId(new UUID(random.nextLong(), 8))
                .codec(Codec.values()[random.nextInt(3)]).blockSize(20 + random.nextInt(200))
                .bufferSize(1 + random.nextInt(3000)).rotation(random.nextInt(partitions))
                .ordered(random.nextBoolean()).statistics(random.nextBoolean());
    }

    /** The same random call of both. */
    private static void call(Random random, int first, int partitions, Writer writer, HybridStore store)
            throws FaroException {
        byte[] bytes = new byte[random.nextInt(20) == 0 ? random.nextInt(2000) : random.nextInt(60)];
        random.nextBytes(bytes);
        ByteBuffer record = ByteBuffer.wrap(bytes);
        int partition = first + random.nextInt(partitions);
        switch (random.nextInt(16)) {
            case 0 -> {
                writer.broadcast(record);
                store.broadcast(record);
            }
            case 1 -> {
                int[] members = {partition, first + random.nextInt(partitions)};
                writer.multicast(members, record);
                store.multicast(members, record);
            }
            case 2 -> {
                writer.broadcastEvent(1, record);
                store.broadcastEvent(1, record);
            }
            case 3 -> {
                writer.writeEvent(partition, 70, record);
                store.writeEvent(partition, 70, record);
            }
            case 4 -> {
                writer.flush();
                store.flush();
            }
            default -> {
                writer.write(partition, record);
                store.write(partition, record);
            }
        }
    }

    private static String text(int kind, boolean shared, long sequence, ByteBuffer payload) {
        return kind + " " + shared + " " + sequence + " " + payload.remaining() + " " + payload.hashCode();
    }

    private static void take(HybridConsumer consumer, int most, List<String> found) throws FaroException {
        for (int i = 0; i < most && consumer.next(); i++) {
            BlockCursor block = consumer.block();
            found.add(text(block.kind(), block.isShared(), block.sequence(), block.payload()));
        }
    }

    private static List<String> read(Reader reader, int partition) throws FaroException {
        List<String> found = new ArrayList<>();
        try (BlockCursor blocks = reader.partition(partition)) {
            while (blocks.next()) {
                found.add(text(blocks.kind(), blocks.isShared(), blocks.sequence(), blocks.payload()));
            }
        }
        return found;
    }

    @ParameterizedTest
    @EnumSource(HybridMode.class)
    void consumersReadWhatAWriterWritesInAnyInterleaving(HybridMode mode) throws Exception {
        int files = 0;
        int without = 0;
        long fromFiles = 0;
        for (long seed = 1; seed <= INTERLEAVINGS; seed++) {
            Random random = random(seed);
            int partitions = 1 + random.nextInt(random.nextBoolean() ? 3 : 20);
            WriterOptions options = options(random, partitions);
            Path plain = folder.resolve("plain");
            Path name = folder.resolve("store");
            HybridMemory memory = new HybridMemory(random.nextInt(3) == 0 ? random.nextInt(500)
                    : random.nextInt(2) == 0 ? 4000 : 1 << 20);
            Map<Integer, HybridConsumer> consumers = new HashMap<>();
            Map<Integer, List<String>> found = new HashMap<>();
            String what = mode + " seed " + seed;
            try (Writer writer = Writer.create(plain, options.follow(random.nextBoolean()));
                    // Regions end as the writer's, and not because a consumer waits.
                    HybridStore store = HybridStore.create(
                            name, options, new HybridOptions(memory, mode).delay(Duration.ofDays(1)))) {
                int first = store.header().firstPartition();
                int calls = random.nextInt(120);
                for (int i = 0; i < calls; i++) {
                    call(random, first, partitions, writer, store);
                    if (random.nextInt(3) == 0) {
                        consume(random, first + random.nextInt(partitions), store, consumers, found, mode);
                    }
                    long blocks = store.figures().inMemory();
                    assertTrue(blocks <= memory.bytes() + 4000, what);
                    assertTrue(memory.used() > blocks || blocks == 0, "messages are counted too: " + what);
                }
                writer.finish();
                store.finish();
                assertEquals(mode == HybridMode.FULL || store.figures().written() > 0,
                        Files.exists(folder.resolve("store.data")), what);
                try (Reader reader = Outputs.open(plain, Layout.PAIRED)) {
                    for (int p = first; p < first + partitions; p++) {
                        List<String> got = found.computeIfAbsent(p, key -> new ArrayList<>());
                        if (!consumers.containsKey(p)) {
                            consumers.put(p, store.open(p, null));
                        }
                        take(consumers.get(p), 1_000_000, got);
                        assertTrue(consumers.get(p).isFinished(), what);
                        assertEquals(read(reader, p), got, what + " partition " + p);
                    }
                }
                fromFiles += store.figures().fromFiles();
                for (HybridConsumer consumer : consumers.values()) {
                    consumer.close();
                }
            }
            assertEquals(0, memory.used(), what);
            if (mode == HybridMode.FULL) {
                for (String end : List.of(".data", ".index")) {
                    assertArrayEquals(Files.readAllBytes(folder.resolve("plain" + end)),
                            Files.readAllBytes(folder.resolve("store" + end)), what);
                }
            } else if (Files.exists(folder.resolve("store.index"))) {
                files++;
                checkSelective(name, plain, what);
            } else {
                without++;
            }
            for (String end : List.of("plain.data", "plain.index", "store.data", "store.index")) {
                Files.deleteIfExists(folder.resolve(end));
            }
            assertEquals(List.of(), Outputs.names(folder), what);
        }
        assertTrue(fromFiles > 0);
        assertTrue(mode == HybridMode.FULL || files > INTERLEAVINGS / 20 && without > INTERLEAVINGS / 20, files + " " + without);
    }

    private static void consume(Random random, int partition, HybridStore store, Map<Integer, HybridConsumer> consumers,
            Map<Integer, List<String>> found, HybridMode mode) throws FaroException {
        if (!consumers.containsKey(partition)) {
            consumers.put(partition, store.open(partition, null));
            found.put(partition, new ArrayList<>());
        }
        take(consumers.get(partition), random.nextInt(6), found.get(partition));
        if (mode == HybridMode.FULL && random.nextInt(10) == 0) {
            HybridConsumer before = consumers.get(partition);
            HybridPosition position = before.position();
            before.close();
            consumers.put(partition, store.open(partition, position, null));
        }
    }

    /** The files have a part of the blocks, and say how many are missing. */
    private static void checkSelective(Path name, Path plain, String what) throws Exception {
        Outputs.check(name, Layout.PAIRED);
        try (Reader some = Outputs.open(name, Layout.PAIRED); Reader all = Outputs.open(plain, Layout.PAIRED)) {
            assertEquals(all.header().fileId(), some.header().fileId());
            Streams streams = some.footer().streams();
            assertNotNull(streams, what);
            for (int p = 0; p < all.header().partitionCount(); p++) {
                int partition = all.header().firstPartition() + p;
                List<String> whole = read(all, partition);
                List<String> part = read(some, partition);
                assertTrue(whole.containsAll(part), what);
                long own = whole.stream().filter(text -> text.contains(" false ")).count();
                long kept = part.stream().filter(text -> text.contains(" false ")).count();
                assertEquals(own, streams.next(partition), what);
                assertEquals(own - kept, streams.missing(partition), what);
            }
        }
    }

    @Test
    void withMemoryEnoughASelectiveStoreHasNoFile() throws Exception {
        HybridMemory memory = new HybridMemory(1 << 20);
        Path name = folder.resolve("store");
        try (HybridStore store = HybridStore.create(
                name, new WriterOptions(3), new HybridOptions(memory, HybridMode.SELECTIVE))) {
            store.write(1, ByteBuffer.wrap(new byte[1000]));
            store.flush();
            assertTrue(memory.used() > 1000);
            for (int p = 0; p < 3; p++) {
                try (HybridConsumer consumer = store.open(p, null)) {
                    assertEquals(p == 1, consumer.next());
                    assertFalse(consumer.next());
                    assertFalse(consumer.isFinished());
                }
            }
            assertEquals(0, memory.used());
            store.finish();
        }
        assertEquals(List.of(), Outputs.names(folder));
    }

    @Test
    void aPartitionOfASelectiveStoreIsOpenedOnce() throws Exception {
        HybridMemory memory = new HybridMemory(0);
        HybridOptions options = new HybridOptions(memory, HybridMode.SELECTIVE);
        try (HybridStore store = HybridStore.create(folder.resolve("s"), new WriterOptions(3), options)) {
            store.open(1, null).close();
            assertInvalid(() -> store.open(1, null));
            assertInvalid(() -> store.open(3, null));
            assertInvalid(() -> store.open(2, new HybridPosition(1, 0, 0), null));
            HybridConsumer consumer = store.open(2, null);
            consumer.close();
            consumer.close();
            assertInvalid(consumer::next);
        }
    }

    @ParameterizedTest
    @EnumSource(HybridMode.class)
    void theNewsOfARegionComesOnce(HybridMode mode) throws Exception {
        RecordingListener log = new RecordingListener();
        WriterOptions writing = new WriterOptions(2).listener(log);
        HybridOptions options = new HybridOptions(new HybridMemory(1), mode);
        try (HybridStore store = HybridStore.create(folder.resolve("n"), writing, options)) {
            for (int i = 0; i < 3; i++) {
                store.write(0, ByteBuffer.wrap(new byte[1000]));
                store.flush();
                assertEquals(i + 1, log.lines.size(), log.lines.toString());
            }
            store.finish();
        }
        assertEquals("finished n.data with 3", log.lines.get(3));
        assertEquals(4, log.lines.size(), log.lines.toString());
    }

    private interface Work {
        void run() throws Exception;
    }

    private static void assertInvalid(Work work) {
        assertEquals(ErrorCode.INVALID_ARGUMENT, assertThrows(FaroException.class, work::run).code());
    }

    @Test
    void optionsThatAStoreCannotHaveAreRefused() {
        HybridOptions options = new HybridOptions(new HybridMemory(0), HybridMode.FULL);
        Path name = folder.resolve("s");
        assertInvalid(() -> HybridStore.create(folder.resolve("s.faro"), new WriterOptions(1), options));
        assertInvalid(() -> HybridStore.create(name, new WriterOptions(1).layout(Layout.SINGLE), options));
        assertInvalid(() -> HybridStore.create(name, new WriterOptions(1).singleBelow(10), options));
        assertInvalid(() -> HybridStore.create(name, new WriterOptions(1).durability(Durability.COMMIT), options));
        assertInvalid(() -> HybridStore.create(name, new WriterOptions(1).selective(true), options));
        assertInvalid(() -> HybridStore.create(name, new WriterOptions(1).dictionaries(true), options));
        assertThrows(IllegalArgumentException.class, () -> new HybridMemory(-1));
        assertThrows(IllegalArgumentException.class, () -> new HybridPosition(0, -1, 0));
    }

    @ParameterizedTest
    @EnumSource(HybridMode.class)
    void aStoreThatIsNotFinishedLeavesNothing(HybridMode mode) throws Exception {
        HybridMemory memory = new HybridMemory(0);
        HybridStore store = HybridStore.create(folder.resolve("s"), new WriterOptions(2), new HybridOptions(memory, mode));
        store.write(0, ByteBuffer.wrap(new byte[100]));
        store.flush();
        assertEquals(List.of("s.data", "s.index"), Outputs.names(folder));
        HybridConsumer consumer = store.open(0, null);
        store.close();
        store.close();
        assertEquals(List.of(), Outputs.names(folder));
        assertInvalid(consumer::next);
        assertInvalid(() -> store.write(0, ByteBuffer.wrap(new byte[1])));
    }

    @ParameterizedTest
    @EnumSource(HybridMode.class)
    void releaseRemovesFinishedFiles(HybridMode mode) throws Exception {
        HybridStore store = HybridStore.create(
                folder.resolve("s"), new WriterOptions(2), new HybridOptions(new HybridMemory(0), mode));
        store.write(0, ByteBuffer.wrap(new byte[100]));
        store.finish();
        assertEquals(List.of("s.data", "s.index"), Outputs.names(folder));
        store.release();
        assertEquals(List.of(), Outputs.names(folder));
    }

    /** Consumers share what looks for regions: one that polls does not make another one miss a region. */
    @ParameterizedTest
    @EnumSource(HybridMode.class)
    void consumersThatLookAtTheSameTimeMissNothing(HybridMode mode) throws Exception {
        int consumers = 4;
        int regions = 2 * INTERLEAVINGS;
        HybridMemory memory = new HybridMemory(64 << 20);
        ExecutorService threads = Executors.newFixedThreadPool(consumers);
        try (HybridStore store = HybridStore.create(
                folder.resolve("s"), new WriterOptions(consumers), new HybridOptions(memory, mode))) {
            List<Future<Integer>> found = new ArrayList<>();
            for (int i = 0; i < consumers; i++) {
                HybridConsumer consumer = store.open(i, null);
                found.add(threads.submit(() -> {
                    int count = 0;
                    while (!consumer.isFinished()) {
                        while (consumer.next()) {
                            assertEquals(count++, consumer.block().sequence());
                        }
                    }
                    return count;
                }));
            }
            for (int region = 0; region < regions; region++) {
                for (int i = 0; i < consumers; i++) {
                    store.write(i, ByteBuffer.wrap(new byte[10]));
                }
                store.flush();
            }
            store.finish();
            for (Future<Integer> each : found) {
                assertEquals(regions, each.get(20, TimeUnit.SECONDS));
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void namesThatExist() throws Exception {
        Files.createFile(folder.resolve("s.index"));
        HybridMemory memory = new HybridMemory(0);
        FaroException refused = assertThrows(FaroException.class, () -> HybridStore.create(
                folder.resolve("s"), new WriterOptions(2), new HybridOptions(memory, HybridMode.FULL)));
        assertEquals(ErrorCode.IO, refused.code());
        // It may need no file.
        HybridStore store = HybridStore.create(
                folder.resolve("s"), new WriterOptions(2), new HybridOptions(memory, HybridMode.SELECTIVE));
        store.write(0, ByteBuffer.wrap(new byte[100]));
        assertEquals(ErrorCode.IO, assertThrows(FaroException.class, store::flush).code());
        store.release();
        assertEquals(List.of("s.index"), Outputs.names(folder));
    }

    /** A store may end in a thread of its executor, which has no other. */
    @ParameterizedTest
    @EnumSource(HybridMode.class)
    void workThatHasNotBegunIsTakenBack(HybridMode mode) throws Exception {
        List<Runnable> kept = new ArrayList<>();
        HybridMemory memory = new HybridMemory(450);
        HybridStore store = HybridStore.create(folder.resolve("s"), new WriterOptions(2),
                new HybridOptions(memory, mode).executor(kept::add));
        store.write(0, ByteBuffer.wrap(new byte[230]));
        store.flush();
        assertEquals(1, kept.size());
        store.finish();
        store.close();
        assertEquals(0, memory.used());
        kept.forEach(Runnable::run);
        assertEquals(mode == HybridMode.FULL, Files.exists(folder.resolve("s.index")));
    }

    @Test
    void aWaitingConsumerEndsTheRegion() throws Exception {
        HybridMemory memory = new HybridMemory(1 << 20);
        HybridOptions options = new HybridOptions(memory, HybridMode.SELECTIVE).delay(Duration.ofDays(1));
        try (HybridStore store = HybridStore.create(folder.resolve("s"), new WriterOptions(2), options)) {
            List<String> woken = new ArrayList<>();
            HybridConsumer consumer = store.open(0, () -> woken.add("woken"));
            store.write(0, ByteBuffer.wrap(new byte[40_000]));
            assertEquals(0, store.figures().regions());
            assertFalse(consumer.next());
            store.write(0, ByteBuffer.wrap(new byte[1]));
            assertEquals(1, store.figures().regions());
            assertEquals(1, woken.size());
            assertTrue(consumer.next());
            while (consumer.next()) {
                // To the end.
            }
            store.write(0, ByteBuffer.wrap(new byte[1000]));
            assertEquals(1, store.figures().regions());
        }
    }

    @Test
    void theRegionEndsAfterTheDelayIfAConsumerWaits() throws Exception {
        Duration delay = Duration.ofMillis(300);
        HybridOptions options = new HybridOptions(new HybridMemory(1 << 20), HybridMode.FULL).delay(delay);
        try (HybridStore store = HybridStore.create(folder.resolve("s"), new WriterOptions(2), options)) {
            HybridConsumer consumer = store.open(0, () -> {});
            long begin = System.nanoTime();
            assertFalse(consumer.next());
            store.write(1, ByteBuffer.wrap(new byte[10]));
            long regions = store.figures().regions();
            assertTrue(regions == 0 || System.nanoTime() - begin >= delay.toNanos());
            Thread.sleep(delay.toMillis() + 1);
            store.write(1, ByteBuffer.wrap(new byte[10]));
            assertEquals(1, store.figures().regions());
            // The consumer has not asked for more.
            Thread.sleep(delay.toMillis() + 1);
            store.write(1, ByteBuffer.wrap(new byte[10]));
            assertEquals(1, store.figures().regions());
        }
    }

    /** The numbers in the records of a framed payload. */
    private static void numbers(ByteBuffer payload, List<Integer> found) {
        for (int at = payload.position(); at < payload.limit(); at += 4 + payload.getInt(at)) {
            found.add(payload.getInt(at + 4));
        }
    }

    /** Reads a partition to its end, in a thread of its own. */
    private static List<Integer> readAll(HybridStore store, int partition) throws Exception {
        Semaphore available = new Semaphore(0);
        List<Integer> found = new ArrayList<>();
        try (HybridConsumer consumer = store.open(partition, available::release)) {
            while (!consumer.isFinished()) {
                while (consumer.next()) {
                    numbers(consumer.block().payload(), found);
                }
                if (!consumer.isFinished()) {
                    assertTrue(available.tryAcquire(30, TimeUnit.SECONDS), "a wake-up was lost");
                }
            }
            return found;
        }
    }

    /** One producer, a thread for each consumer, spills in another: all at once, many times. */
    @ParameterizedTest
    @EnumSource(HybridMode.class)
    void threadsReadWhatIsWritten(HybridMode mode) throws Exception {
        ExecutorService spills = Executors.newSingleThreadExecutor();
        ExecutorService readers = Executors.newCachedThreadPool();
        long written = 0;
        try {
            for (long seed = 1; seed <= 150; seed++) {
                Random random = random(seed);
                HybridMemory memory = new HybridMemory(random.nextInt(30_000));
                int partitions = 1 + random.nextInt(4);
                WriterOptions writing = new WriterOptions(partitions).framing(Framing.RECORDS).ordered(true)
                        .blockSize(20 + random.nextInt(500)).bufferSize(1 + random.nextInt(5000));
                HybridOptions options = new HybridOptions(memory, mode).executor(spills).delay(Duration.ofNanos(1));
                List<List<Integer>> expected = new ArrayList<>();
                List<Future<List<Integer>>> results = new ArrayList<>();
                HybridStore store = HybridStore.create(folder.resolve("s"), writing, options);
                for (int p = 0; p < partitions; p++) {
                    int partition = p;
                    expected.add(new ArrayList<>());
                    results.add(readers.submit(() -> readAll(store, partition)));
                }
                for (int i = 0; i < 600; i++) {
                    int number = i;
                    ByteBuffer record = ByteBuffer.allocate(4 + random.nextInt(100)).order(ByteOrder.LITTLE_ENDIAN);
                    record.putInt(0, number);
                    if (random.nextInt(8) == 0) {
                        store.broadcast(record);
                        expected.forEach(list -> list.add(number));
                    } else {
                        int partition = random.nextInt(partitions);
                        store.write(partition, record);
                        expected.get(partition).add(number);
                    }
                }
                store.finish();
                for (int p = 0; p < partitions; p++) {
                    assertEquals(expected.get(p), results.get(p).get(60, TimeUnit.SECONDS), mode + " seed " + seed);
                }
                written += store.figures().written();
                store.release();
                assertEquals(0, memory.used());
                assertEquals(List.of(), Outputs.names(folder));
            }
        } finally {
            spills.shutdownNow();
            readers.shutdownNow();
        }
        assertTrue(written > 0);
    }
}
