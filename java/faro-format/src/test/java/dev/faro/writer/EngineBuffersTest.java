package dev.faro.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.Buffers;
import dev.faro.Framing;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.storage.MemoryDestination;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Records in small buffers of an engine, as its network has them: the output is that of records on the heap. */
class EngineBuffersTest {
    private static final int PARTITIONS = 50;
    /** What is written, in bytes. */
    private static final int AMOUNT = 6 << 20;

    /** A pool of direct buffers of one size. */
    private static final class Pool implements Buffers {
        private final Deque<ByteBuffer> free = new ArrayDeque<>();
        private final int count;
        int taken;
        int refused;

        Pool(int count, int size) {
            this.count = count;
            for (int i = 0; i < count; i++) {
                free.add(ByteBuffer.allocateDirect(size));
            }
        }

        @Override
        public ByteBuffer take(int wanted) {
            taken++;
            refused += free.isEmpty() ? 1 : 0;
            return free.poll();
        }

        @Override
        public void giveBack(ByteBuffer buffer) {
            free.push(buffer);
            assertTrue(free.size() <= count);
        }
    }

    @ParameterizedTest
    @CsvSource({"RECORDS, 40", "RECORDS, 3000", "OPAQUE, 40", "OPAQUE, 3000", "OPAQUE, 700000"})
    void theBlocksAreThoseOfRecordsOnTheHeap(Framing framing, int longest) throws Exception {
        List<String> expected = blocks(framing, longest, null);
        for (int size : new int[] {32 << 10, 100_000, 5 << 20}) {
            Pool pool = new Pool(Math.max(12, (16 << 20) / size), size);
            List<String> found = blocks(framing, longest, pool);
            for (int i = 0; i < expected.size(); i++) {
                assertEquals(expected.get(i), found.get(i), "line " + i + " with buffers of " + size + " bytes");
            }
            assertEquals(expected.size(), found.size());
            assertEquals(pool.count, pool.free.size());
            assertTrue(pool.taken > 0);
            assertEquals(0, pool.refused);
        }
    }

    /** With too few buffers regions end earlier, and nothing is lost. */
    @ParameterizedTest
    @CsvSource({
        "RECORDS, 40, 12, 32768", "RECORDS, 3000, 1, 32768", "OPAQUE, 3000, 0, 1", "OPAQUE, 3000, 2000, 100",
        "OPAQUE, 700000, 23, 32768", "RECORDS, 3000, 900, 1000",
    })
    void theContentsAreThoseOfRecordsOnTheHeap(Framing framing, int longest, int count, int size) throws Exception {
        Pool pool = new Pool(count, size);
        byte[][] expected = contents(written(framing, longest, null));
        byte[][] found = contents(written(framing, longest, pool));
        for (int p = 0; p < PARTITIONS; p++) {
            assertTrue(java.util.Arrays.equals(expected[p], found[p]), "partition " + p);
        }
        assertTrue(pool.refused > 0 || count == 2000 || size < longest);
        assertEquals(count, pool.free.size());
    }

    /** An engine that throws gets every buffer back, whatever the writer was doing. */
    @ParameterizedTest
    @CsvSource({"20, 100", "30, 700000"})
    void anEngineThatThrows(int calls, int length) throws Exception {
        Pool pool = new Pool(200, 32 << 10);
        Buffers throwing = new Buffers() {
            @Override
            public ByteBuffer take(int wanted) {
                if (pool.taken >= calls) {
                    throw new IllegalStateException("cancelled");
                }
                return pool.take(wanted);
            }

            @Override
            public void giveBack(ByteBuffer buffer) {
                pool.giveBack(buffer);
            }
        };
        WriterOptions options = new WriterOptions(PARTITIONS).bufferSize(8 << 20).framing(Framing.OPAQUE)
                .buffers(throwing);
        try (Writer writer = Writer.createIn(new MemoryDestination("m"), options)) {
            assertThrows(IllegalStateException.class, () -> {
                for (int i = 0; i < 100_000; i++) {
                    writer.write(i % PARTITIONS, ByteBuffer.allocate(length));
                }
            });
        }
        assertEquals(pool.count, pool.free.size());
    }

    /** What an engine throws when it gets buffers back keeps no other buffer from it, and no failure is lost. */
    @ParameterizedTest
    @CsvSource({"flush", "finish", "abort"})
    void anEngineThatThrowsWhenItGetsBuffersBack(String call) throws Exception {
        Pool pool = new Pool(200, 32 << 10);
        List<Throwable> failures = List.of(new IllegalStateException("the first"), new StackOverflowError("the second"),
                new IllegalArgumentException("the third"));
        Buffers throwing = new Buffers() {
            private int given;

            @Override
            public ByteBuffer take(int wanted) {
                return pool.take(wanted);
            }

            @Override
            public void giveBack(ByteBuffer buffer) {
                pool.giveBack(buffer);
                // The first failure is thrown a second time at the end.
                Throwable failure = given < 4 ? failures.get(given++ % 3) : null;
                if (failure instanceof Error e) {
                    throw e;
                }
                if (failure != null) {
                    throw (RuntimeException) failure;
                }
            }
        };
        WriterOptions options = new WriterOptions(PARTITIONS).bufferSize(8 << 20).buffers(throwing);
        try (Writer writer = Writer.createIn(new MemoryDestination("m"), options)) {
            for (int i = 0; i < 10_000; i++) {
                writer.write(i % PARTITIONS, ByteBuffer.allocate(100));
            }
            assertTrue(pool.free.size() <= pool.count - 4, "several buffers are in use");
            Throwable thrown = assertThrows(IllegalStateException.class, () -> {
                switch (call) {
                    case "flush" -> writer.flush();
                    case "finish" -> writer.finish();
                    default -> writer.abort();
                }
            });
            assertEquals(pool.count, pool.free.size());
            assertSame(failures.get(0), thrown);
            assertEquals(failures.subList(1, 3), List.of(thrown.getSuppressed()));
        }
    }

    private static Reader written(Framing framing, int longest, Buffers buffers) throws Exception {
        Random random = new Random(longest);
        WriterOptions options = new WriterOptions(PARTITIONS).bufferSize(3 << 20).framing(framing).blockSize(32 << 10)
                .buffers(buffers);
        try (Writer writer = Writer.createIn(new MemoryDestination("m"), options)) {
            for (long bytes = 0; bytes < AMOUNT; ) {
                boolean isLong = random.nextInt(longest > 10_000 ? 2000 : 20) == 0;
                ByteBuffer record = ByteBuffer.allocate(random.nextInt(1 + (isLong ? longest : Math.min(longest, 100))));
                random.nextBytes(record.array());
                writer.write(random.nextInt(PARTITIONS), record);
                bytes += record.limit();
                if (random.nextInt(5000) == 0) {
                    writer.writeEvent(random.nextInt(PARTITIONS), 64, ByteBuffer.wrap(new byte[] {1, 2, 3}));
                }
                if (random.nextInt(20_000) == 0) {
                    writer.broadcast(record);
                }
            }
            return writer.finishAndOpen(ReaderOptions.DEFAULT).reader();
        }
    }

    /** Region, kind, sequence and bytes of each block, and the records of each partition. */
    private static List<String> blocks(Framing framing, int longest, Buffers buffers) throws Exception {
        List<String> blocks = new ArrayList<>();
        Reader reader = written(framing, longest, buffers);
        for (int p = 0; p < PARTITIONS; p++) {
            try (BlockCursor cursor = reader.partition(p)) {
                while (cursor.next()) {
                    blocks.add(cursor.region() + " " + cursor.kind() + " " + cursor.sequence() + " "
                            + cursor.payload().hashCode());
                }
            }
            blocks.add("records: " + reader.footer().statistics().records(p));
        }
        return blocks;
    }

    private static byte[][] contents(Reader reader) throws Exception {
        byte[][] contents = new byte[PARTITIONS][];
        for (int p = 0; p < PARTITIONS; p++) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (BlockCursor cursor = reader.partition(p)) {
                while (cursor.next()) {
                    byte[] block = new byte[cursor.plainSize()];
                    cursor.payload().get(block);
                    bytes.writeBytes(block);
                }
            }
            contents[p] = bytes.toByteArray();
        }
        return contents;
    }
}
