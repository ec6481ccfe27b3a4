package dev.faro.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.Buffers;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.MemoryBudget;
import dev.faro.MemoryRefusedException;
import dev.faro.codec.Codec;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.reader.RecordCursor;
import dev.faro.storage.MemoryDestination;
import dev.faro.testing.RecordingBudget;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The memory that a writer asks an engine for, and gives back. */
class WriterBudgetTest {
    /** Refuses one call, or all from one on. */
    private static final class Budget implements MemoryBudget {
        int refused = -1;
        boolean forGood;
        int calls;
        long granted;

        @Override
        public boolean tryGrow(long bytes) {
            assertTrue(bytes > 0);
            int call = calls++;
            if (refused >= 0 && (call == refused || forGood && call > refused)) {
                return false;
            }
            granted += bytes;
            return true;
        }

        @Override
        public void shrink(long bytes) {
            assertTrue(bytes > 0);
            granted -= bytes;
            assertTrue(granted >= 0);
        }
    }

    private static ByteBuffer record(int number, int size) {
        return ByteBuffer.allocate(size).putInt(0, number);
    }

    /** Writes numbered records of many sizes, each again after a refusal; returns the number of refused calls. */
    private static int write(Writer writer, Budget budget, int partitions) throws FaroException {
        int refusals = 0;
        Random random = new Random(1);
        for (int i = 0; i < 400; i++) {
            int size = 4 + random.nextInt(i % 50 == 49 ? 200_000 : 3000);
            try {
                writer.write(i % partitions, record(i, size));
            } catch (FaroException e) {
                assertEquals(ErrorCode.IO, e.code());
                assertTrue(e.getCause() instanceof MemoryRefusedException, e.getMessage());
                refusals++;
                writer.write(i % partitions, record(i, size));
            }
            if (budget != null) {
                assertEquals(budget.granted, writer.memoryUsed());
            }
        }
        return refusals;
    }

    private static void compare(Reader reader, int partitions) throws FaroException {
        for (int p = 0; p < partitions; p++) {
            int expected = p;
            try (RecordCursor records = reader.records(p)) {
                while (records.next()) {
                    assertEquals(expected, records.record().order(java.nio.ByteOrder.BIG_ENDIAN).getInt(
                            records.record().position()));
                    expected += partitions;
                }
            }
            assertTrue(expected >= 400 && expected < 400 + partitions, "partition " + p + ": " + expected);
        }
    }

    @Test
    void aRefusalAtEveryCall() throws Exception {
        for (int partitions : new int[] {3, 40}) {
            int refused = 0;
            int calls = Integer.MAX_VALUE;
            int failures = 0;
            int spills = 0;
            for (; refused < calls; refused++) {
                Budget budget = new Budget();
                budget.refused = refused;
                WriterOptions options = new WriterOptions(partitions).bufferSize(500_000).memoryBudget(budget);
                try (Writer writer = Writer.createIn(new MemoryDestination("m"), options)) {
                    failures += write(writer, budget, partitions);
                    Finished finished = writer.finishAndOpen(ReaderOptions.DEFAULT);
                    assertEquals(0, writer.memoryUsed());
                    compare(finished.reader(), partitions);
                    spills += finished.summary().regions() > 2 ? 1 : 0;
                }
                assertEquals(0, budget.granted);
                calls = budget.calls;
            }
            assertTrue(refused >= 5, refused + " calls");
            // Only the first call of all is refused with an empty buffer: the others spill.
            assertEquals(1, failures, "of " + refused);
            assertTrue(spills > 0);
        }
    }

    @Test
    void theOptionsTellTheWorkingMemory() throws Exception {
        List<Long> asked = new ArrayList<>();
        MemoryBudget budget = new MemoryBudget() {
            @Override
            public boolean tryGrow(long bytes) {
                return asked.add(bytes);
            }

            @Override
            public void shrink(long bytes) {}
        };
        WriterOptions options = new WriterOptions(1000).bufferSize(1 << 20).codec(Codec.ZSTD).memoryBudget(budget);
        try (Writer writer = Writer.createIn(new MemoryDestination("m"), options)) {
            writer.write(0, record(0, 100));
            assertTrue(writer.memoryUsed() > options.workingMemory(), "records take memory too");
        }
        assertEquals(options.workingMemory(), asked.get(0));
        assertTrue(options.blockSize(1 << 20).workingMemory() > asked.get(0) + (1 << 20));
        FaroException refused = assertThrows(FaroException.class, () -> options.blockSize(0).workingMemory());
        assertEquals(ErrorCode.INVALID_ARGUMENT, refused.code());
    }

    @Test
    void aBudgetThatRefusesForGood() throws Exception {
        for (int refused = 0; refused < 6; refused++) {
            Budget budget = new Budget();
            budget.refused = refused;
            budget.forGood = true;
            try (Writer writer = Writer.createIn(
                    new MemoryDestination("m"), new WriterOptions(40).memoryBudget(budget))) {
                int taken = 0;
                try {
                    for (int i = 0; i < 100_000; i++) {
                        writer.write(i % 40, record(i, 1000));
                        taken++;
                    }
                } catch (FaroException e) {
                    assertEquals(ErrorCode.IO, e.code());
                }
                assertTrue(taken < 100_000);
                assertThrows(FaroException.class, () -> writer.write(0, record(0, 10)));
                budget.forGood = false;
                budget.refused = -1;
                writer.write(0, record(0, 10));
                Summary summary = writer.finish();
                assertEquals(taken + 1, summary.statistics().records(0) + sum(summary));
            }
            assertEquals(0, budget.granted);
        }
    }

    private static long sum(Summary summary) {
        long sum = 0;
        for (int p = 1; p < 40; p++) {
            sum += summary.statistics().records(p);
        }
        return sum;
    }

    /** Whatever ends the writer, all is given back; after flush, only the working memory is held. */
    @Test
    void grantsBalance() throws Exception {
        for (String end : List.of("finish", "abort", "close", "failure", "flush")) {
            Budget budget = new Budget();
            boolean fails = end.equals("failure");
            Writer writer = Writer.createIn(role -> {
                if (fails) {
                    return new FailingFile(new MemoryDestination("m").create(role));
                }
                return new MemoryDestination("m").create(role);
            }, new WriterOptions(40).memoryBudget(budget));
            assertEquals(0, budget.granted, "nothing before the first record");
            write(writer, budget, 40);
            assertTrue(budget.granted > 400_000);
            switch (end) {
                case "finish" -> writer.finish();
                case "abort" -> writer.abort();
                case "failure" -> assertThrows(FaroException.class, writer::finish);
                case "flush" -> {
                    writer.flush();
                    long working = budget.granted;
                    writer.write(0, record(0, 10));
                    assertTrue(budget.granted > working);
                    writer.flush();
                    assertEquals(working, budget.granted);
                }
                default -> { }
            }
            writer.close();
            assertEquals(0, budget.granted, end);
            assertEquals(0, writer.memoryUsed(), end);
        }
    }

    /** What a budget throws while a writer is aborted comes out of the call, after the files were removed. */
    @Test
    void aBudgetThatFailsLeavesNoFile(@TempDir Path folder) throws Exception {
        RecordingBudget budget = new RecordingBudget(1L << 40).failShrink(0);
        Writer writer = Writer.create(folder.resolve("b"), new WriterOptions(2).memoryBudget(budget));
        writer.write(0, record(0, 100));
        assertThrows(IllegalStateException.class, writer::abort);
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(), left.toList());
        }
        writer.close();
        budget.checkEnd("aborted");
    }

    /** Each set of members takes memory until its region has ended, even when records are in the engine's buffers. */
    @Test
    void sharedExtentsAreAskedFor() throws Exception {
        for (Buffers buffers : new Buffers[] {null, new Pool(false, 300_000)}) {
            Budget budget = new Budget();
            WriterOptions options = new WriterOptions(4000).ordered(false).memoryBudget(budget).buffers(buffers);
            try (Writer writer = Writer.createIn(new MemoryDestination("m"), options)) {
                writer.multicast(new int[] {1, 2}, record(1, 10));
                long one = budget.granted;
                writer.multicast(new int[] {1, 2}, record(1, 10));
                assertEquals(one, budget.granted, "the same members");
                for (int i = 3; i < 103; i++) {
                    writer.multicast(new int[] {1, i}, record(i, 10));
                }
                assertTrue(budget.granted >= one + 100 * 4000 / 8, budget.granted - one + " bytes");
                writer.flush();
                assertEquals(options.workingMemory(), budget.granted);
                writer.multicast(new int[] {1, 2}, record(1, 10));
                writer.flush();
                // The first is refused: the region ends, and there is room for it.
                writer.write(1, record(1, 10));
                budget.refused = budget.calls;
                writer.multicast(new int[] {3, 2}, record(2, 10));
                assertEquals(3, writer.finish().regions() - 1);
            }
            assertEquals(0, budget.granted);
        }
    }

    /** Buffers of an engine, which notices one that is given back twice or not at all. */
    private static final class Pool implements Buffers {
        final Set<Integer> out = new HashSet<>();
        final List<ByteBuffer> all = new ArrayList<>();
        final boolean direct;
        final int[] sizes;
        int taken;
        int refused = -1;

        Pool(boolean direct, int... sizes) {
            this.direct = direct;
            this.sizes = sizes;
        }

        @Override
        public ByteBuffer take(int wanted) {
            int call = taken++;
            if (call == refused) {
                return null;
            }
            int size = sizes[call % sizes.length];
            ByteBuffer buffer = direct ? ByteBuffer.allocateDirect(size) : ByteBuffer.allocate(size + 3).slice(3, size);
            out.add(System.identityHashCode(buffer));
            all.add(buffer);
            return buffer;
        }

        @Override
        public void giveBack(ByteBuffer buffer) {
            assertTrue(out.remove(System.identityHashCode(buffer)), "given back once, the same object");
        }
    }

    @Test
    void buffersOfAnEngine() throws Exception {
        for (boolean direct : new boolean[] {false, true}) {
            for (int[] sizes : new int[][] {{300_000}, {210_001, 999_999, 333_333}, {4 << 20}}) {
                for (int partitions : new int[] {3, 40}) {
                    Pool pool = new Pool(direct, sizes);
                    WriterOptions options = new WriterOptions(partitions).bufferSize(1 << 20).buffers(pool);
                    try (Writer writer = Writer.createIn(new MemoryDestination("m"), options)) {
                        write(writer, null, partitions);
                        assertFalse(pool.out.isEmpty());
                        writer.flush();
                        assertEquals(Set.of(), pool.out);
                        Reader reader = writer.finishAndOpen(ReaderOptions.DEFAULT).reader();
                        compare(reader, partitions);
                    }
                    assertEquals(Set.of(), pool.out);
                }
            }
        }
    }

    @Test
    void aRefusalOfAnEngineAtEveryCall() throws Exception {
        int taken = Integer.MAX_VALUE;
        int refused = 0;
        for (; refused < taken; refused++) {
            Pool pool = new Pool(true, 250_000);
            pool.refused = refused;
            WriterOptions options = new WriterOptions(40).bufferSize(1 << 20).buffers(pool);
            try (Writer writer = Writer.createIn(new MemoryDestination("m"), options)) {
                // The only refusal is followed by a buffer: the region ended, or the call is repeated.
                assertEquals(0, write(writer, null, 40));
                compare(writer.finishAndOpen(ReaderOptions.DEFAULT).reader(), 40);
            }
            assertEquals(Set.of(), pool.out);
            taken = pool.taken;
        }
        assertTrue(refused > 3, refused + " calls");
    }

    /** The call that needs a buffer is refused, clearly; the writer is as it was. */
    @Test
    void buffersThatAreOfNoUse() throws Exception {
        for (ByteBuffer wrong : List.of(
                ByteBuffer.allocate(0), ByteBuffer.allocateDirect(100_000).asReadOnlyBuffer())) {
            unusable(wrong, 20, ErrorCode.INVALID_ARGUMENT, wrong.isReadOnly() ? "read-only" : "0 bytes");
        }
        // Regions of small records can do without.
        unusable(ByteBuffer.allocate(7), 400_000, ErrorCode.IO, "out of memory");
    }

    private static void unusable(ByteBuffer wrong, int length, ErrorCode code, String text) throws Exception {
        List<ByteBuffer> back = new ArrayList<>();
        boolean[] right = {false};
        Buffers buffers = new Buffers() {
            @Override
            public ByteBuffer take(int wanted) {
                return right[0] ? ByteBuffer.allocate(wanted) : wrong;
            }

            @Override
            public void giveBack(ByteBuffer buffer) {
                back.add(buffer);
            }
        };
        int[] written = {0};
        try (Writer writer = Writer.createIn(new MemoryDestination("m"), new WriterOptions(2).buffers(buffers))) {
            FaroException e = assertThrows(FaroException.class, () -> {
                for (; written[0] < 1_000_000; written[0]++) {
                    writer.write(0, record(1, length));
                }
            });
            assertEquals(code, e.code());
            assertTrue(e.getMessage().contains(text), e.getMessage());
            assertTrue(back.get(0) == wrong);
            right[0] = true;
            writer.write(0, record(1, length));
            assertEquals(written[0] + 1, writer.finish().statistics().records(0));
        }
    }

    /** Fails when something is appended. */
    private record FailingFile(dev.faro.storage.NewFile file) implements dev.faro.storage.NewFile {
        @Override
        public String name() {
            return file.name();
        }

        @Override
        public void append(ByteBuffer bytes) throws java.io.IOException {
            throw new java.io.IOException("full");
        }

        @Override
        public void sync() {}

        @Override
        public void publish(boolean replace) {}

        @Override
        public void remove() throws java.io.IOException {
            file.remove();
        }

        @Override
        public dev.faro.storage.StoredFile open() throws java.io.IOException {
            return file.open();
        }

        @Override
        public void close() throws java.io.IOException {
            file.close();
        }
    }
}
