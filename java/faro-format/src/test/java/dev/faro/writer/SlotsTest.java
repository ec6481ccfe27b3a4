package dev.faro.writer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.MemoryBudget;
import dev.faro.testing.Outputs;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whether records are in slots or not, the files are the same. */
class SlotsTest {
    @TempDir
    Path folder;

    /** The options and calls of a writer, as a seed says. */
    private static final class Calls {
        final Random random;
        final int partitions;
        final int first;
        final long bufferSize;
        final int blockSize;
        final int longest;
        final int slotSize;
        final boolean ordered;
        final int rotation;
        final Layout layout;
        final int special;
        final boolean direct;

        Calls(long seed) {
            random = new Random(seed);
            partitions = one(1, 2, 3, 17, 64, 100, 300);
            first = one(0, 5);
            bufferSize = one(1, 300, 3000, 60_000, 1 << 20, 5 << 20);
            blockSize = one(1, 7, 100, 3000, 64 << 10);
            longest = one(0, 5, 30, 300, 6000, 70_000);
            slotSize = one(16, 40, 256, 4096, 32 << 10);
            ordered = random.nextBoolean();
            rotation = random.nextInt(partitions);
            layout = Layout.values()[random.nextInt(2)];
            special = one(0, 2, 10, 1000);
            direct = random.nextBoolean();
        }

        private int one(int... values) {
            return values[random.nextInt(values.length)];
        }

        WriterOptions options(int slots) {
            WriterOptions options = new WriterOptions(partitions).firstPartition(first).bufferSize(bufferSize)
                    .blockSize(blockSize).ordered(ordered).rotation(rotation).layout(layout).fileId(new UUID(1, 2));
            options.slotSize = slots;
            return options;
        }

        private ByteBuffer record() {
            byte[] bytes = new byte[random.nextInt(20) > 0 ? random.nextInt(longest + 1) : random.nextInt(40)];
            random.nextBytes(bytes);
            // Not the whole of a buffer.
            ByteBuffer buffer = direct ? ByteBuffer.allocateDirect(bytes.length + 9)
                    : ByteBuffer.allocate(bytes.length + 9);
            return buffer.position(4).put(bytes).flip().position(4);
        }

        void run(Writer writer) throws FaroException {
            long bytes = Math.min(4 * bufferSize, 6 << 20);
            int count = (int) Math.min(20_000, 200 + bytes / (longest / 2 + 12));
            for (int i = 0; i < count; i++) {
                // Sometimes most partitions have no record.
                int partition = first + random.nextInt(random.nextInt(count / 100) == 0 ? 1 : partitions);
                if (special > 0 && random.nextInt(special) == 0) {
                    special(writer, partition);
                } else if (random.nextInt(50) == 0) {
                    writer.write(partition, record(), random.nextInt(5));
                } else {
                    writer.write(partition, record());
                }
            }
        }

        private void special(Writer writer, int partition) throws FaroException {
            int kind = 64 + random.nextInt(64);
            int[] members = {partition, first + random.nextInt(partitions)};
            switch (random.nextInt(12)) {
                case 0 -> writer.broadcast(record());
                case 1 -> writer.multicast(members, record());
                case 2 -> writer.broadcastEvent(kind, record());
                case 3 -> {
                    if (random.nextInt(20) == 0) {
                        writer.flush();
                    }
                }
                case 4 -> {
                    if (random.nextInt(20) == 0) {
                        region(writer, partition);
                    }
                }
                default -> writer.writeEvent(partition, kind, record());
            }
        }

        private void region(Writer writer, int partition) throws FaroException {
            try (RegionWriter region = writer.region()) {
                region.block(partition, BlockKind.DATA, ByteBuffer.wrap(new byte[] {1, 0, 0, 0, 7}), 1);
                if (random.nextBoolean()) {
                    region.end();
                }
            }
        }
    }

    /** Counts what is granted. */
    private static final class Account implements MemoryBudget {
        long granted;
        long most;

        @Override
        public boolean tryGrow(long bytes) {
            assertTrue(bytes > 0);
            granted += bytes;
            most = Math.max(most, granted);
            return true;
        }

        @Override
        public void shrink(long bytes) {
            assertTrue(bytes > 0);
            granted -= bytes;
        }
    }

    private Summary write(Path name, Calls calls, int slots) throws FaroException {
        Account account = new Account();
        WriterOptions options = calls.options(slots).memoryBudget(account);
        Summary summary;
        try (Writer writer = Writer.create(name, options)) {
            calls.run(writer);
            summary = writer.finish();
        }
        assertEquals(0, account.granted);
        return summary;
    }

    static LongStream seeds() {
        return LongStream.range(0, 300);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void theFilesAreTheSame(long seed) throws Exception {
        Path with = folder.resolve("with");
        Path without = folder.resolve("without");
        Calls calls = new Calls(seed);
        Summary summary = write(with, calls, calls.slotSize);
        Summary other = write(without, new Calls(seed), 0);
        for (int i = 0; i < Outputs.files(with, calls.layout).size(); i++) {
            assertArrayEquals(Files.readAllBytes(Outputs.files(without, calls.layout).get(i)),
                    Files.readAllBytes(Outputs.files(with, calls.layout).get(i)));
        }
        assertEquals(other.regions(), summary.regions());
        assertEquals(other.blocks(), summary.blocks());
    }

    /** With many partitions only short records go into slots: regions with and without slots follow each other. */
    @Test
    void recordsThatGetLongerAndShorter() throws Exception {
        for (String name : new String[] {"chosen", "without"}) {
            WriterOptions options = new WriterOptions(300).bufferSize(2 << 20).fileId(new UUID(1, 2));
            options.slotSize = name.equals("chosen") ? null : 0;
            Random random = new Random(7);
            try (Writer writer = Writer.create(folder.resolve(name), options)) {
                for (int longest : new int[] {20, 500, 20, 3000, 30, 0}) {
                    for (int bytes = 0; bytes < 5 << 20; ) {
                        byte[] record = new byte[random.nextInt(longest + 1)];
                        random.nextBytes(record);
                        writer.write(random.nextInt(300), ByteBuffer.wrap(record));
                        bytes += record.length + 12;
                    }
                }
                writer.finish();
            }
        }
        for (String ending : new String[] {".data", ".index"}) {
            assertArrayEquals(Files.readAllBytes(folder.resolve("without" + ending)),
                    Files.readAllBytes(folder.resolve("chosen" + ending)));
        }
    }

    /** Records in slots, with those of a few in parts, take no more than the sort buffer and the working memory. */
    @Test
    void theMemoryIsThatOfTheFormula() throws Exception {
        for (int partitions : new int[] {1, 64, 300, 1000}) {
            // With many partitions only short records go into slots.
            for (int length : partitions <= 64 ? new int[] {0, 1, 100, 5000} : new int[] {0, 1, 50}) {
                // Without slots, a part that grows takes more than that in a small buffer.
                int bufferSize = (length == 100 || length == 50 && partitions < 1000 ? 2 : 16) << 20;
                Account account = new Account();
                WriterOptions options = new WriterOptions(partitions).bufferSize(bufferSize).memoryBudget(account);
                ByteBuffer record = ByteBuffer.allocate(length);
                try (Writer writer = Writer.create(folder.resolve("m" + partitions + "-" + length), options)) {
                    for (int i = 0; i < 3 * bufferSize / (length + 12); i++) {
                        writer.write((int) ((i * 2654435761L >>> 8) % partitions), record);
                        if (i % 7 == 0) {
                            writer.writeEvent(i % partitions, 64, record);
                        }
                    }
                    long most = bufferSize + options.workingMemory();
                    assertTrue(account.most <= most, () -> account.most + " of " + most + " for " + partitions);
                    assertTrue(length < 100 || account.most > most / 2);
                    writer.flush();
                    assertEquals(options.workingMemory(), account.granted);
                    writer.finish();
                }
                assertEquals(0, account.granted);
            }
        }
    }
}
