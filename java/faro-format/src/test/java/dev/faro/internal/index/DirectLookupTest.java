package dev.faro.internal.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.follow.Follower;
import dev.faro.internal.message.Directory;
import dev.faro.reader.Lookup;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.reader.RecordCursor;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingFileSystem;
import dev.faro.testing.Scrambled;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Direct lookup: the same blocks from a few bytes of each region message; after damage a fault, never other blocks
 * (LKP).
 */
class DirectLookupTest {
    private static final ReaderOptions DIRECT = ReaderOptions.DEFAULT.withLookup(Lookup.DIRECT);
    private static final int HEADER = 24;

    private final RecordingFileSystem system = new RecordingFileSystem();

    @TempDir
    Path folder;

    private static List<Long> storedBytes(Reader reader, Scrambled output) throws FaroException {
        List<Long> bytes = new ArrayList<>();
        for (int partition = output.first; partition < output.first + output.partitions; partition++) {
            bytes.add(reader.storedBytes(partition));
        }
        return bytes;
    }

    @Test
    void theSameAsWholeMessages() throws Exception {
        int withoutStatistics = 0;
        for (int seed = 0; seed < 150; seed++) {
            Random random = new Random(seed);
            Scrambled output = Scrambled.write(folder.resolve("random"), random, 1 + random.nextInt(500));
            try (Reader full = output.open(ReaderOptions.DEFAULT); Reader direct = output.open(DIRECT)) {
                String what = "seed " + seed;
                assertEquals(output.transcripts(full), output.transcripts(direct), what);
                assertEquals(storedBytes(full, output), storedBytes(direct, output), what);
                int later = random.nextInt(full.regionCount() + 1);
                int partition = output.first + random.nextInt(output.partitions);
                assertEquals(Scrambled.transcript(full.partition(partition, later)),
                        Scrambled.transcript(direct.partition(partition, later)), what + " from region " + later);
                withoutStatistics += full.footer().statistics() == null ? 1 : 0;
            }
        }
        assertTrue(withoutStatistics > 30, withoutStatistics + " without statistics");
    }

    /** Opens the index file or single file of an output. */
    private static FileChannel openIndex(Path name, Layout layout) throws IOException {
        List<Path> files = Outputs.files(name, layout);
        return FileChannel.open(files.get(files.size() - 1), StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    private static byte xor(FileChannel channel, long at, int change) throws IOException {
        ByteBuffer one = ByteBuffer.allocate(1);
        channel.read(one, at);
        byte before = one.get(0);
        channel.write(one.put(0, (byte) (before ^ change)).rewind(), at);
        return before;
    }

    /** Whether what was read is all that is right, or a part of it before a fault; anything else fails. */
    private static boolean isRight(List<String> right, List<String> found, String what) {
        boolean fault = !found.isEmpty() && found.get(found.size() - 1).contains("expected");
        if (!fault) {
            assertEquals(right, found, what);
            return true;
        }
        int delivered = found.size() - 1;
        assertTrue(delivered <= right.size() && right.subList(0, delivered).equals(found.subList(0, delivered)), what);
        return false;
    }

    /** With statistics, a damaged message never leads to other blocks, nor to fewer blocks. */
    @Test
    void damagedMessages() throws Exception {
        int faults = 0;
        int same = 0;
        for (int seed = 0; seed < 80; seed++) {
            Random random = new Random(seed);
            Scrambled output = Scrambled.write(folder.resolve("damaged"), random, 60);
            try (Reader reader = output.open(DIRECT); FileChannel index = openIndex(output.name, output.layout)) {
                Directory directory = reader.output().directory();
                List<List<String>> right = output.transcripts(reader);
                for (int i = 0; i < 60 && directory.size() > 0; i++) {
                    int region = random.nextInt(directory.size());
                    int[] offsets = random.ints(1 + random.nextInt(3), 0, directory.messageSize(region)).toArray();
                    byte[] before = new byte[offsets.length];
                    long begin = directory.messageOffset(region) + HEADER;
                    for (int j = 0; j < offsets.length; j++) {
                        int change = random.nextBoolean() ? 1 << random.nextInt(8) : 1 + random.nextInt(255);
                        before[j] = xor(index, begin + offsets[j], change);
                    }
                    int partition = random.nextInt(output.partitions);
                    List<String> found = Scrambled.transcript(reader.partition(output.first + partition));
                    if (reader.footer().statistics() != null) {
                        boolean all = isRight(right.get(partition), found, "seed " + seed + ", damage " + i);
                        same += all ? 1 : 0;
                        faults += all ? 0 : 1;
                    }
                    for (int j = offsets.length; j-- > 0;) {
                        index.write(ByteBuffer.wrap(before, j, 1), begin + offsets[j]);
                    }
                }
            }
        }
        assertTrue(faults > 300 && same > 150, faults + " faults, " + same + " the same");
    }

    /** Each byte of small messages, with each bit changed, and set to the lowest and highest values. */
    @Test
    void everyByteOfAMessage() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("every" + layout);
            Outputs.small(name, new WriterOptions(3).layout(layout));
            List<Path> files = Outputs.files(name, layout);
            try (Reader reader = layout == Layout.SINGLE ? Reader.openSingle(files.get(0), DIRECT)
                            : Reader.openPair(files.get(0), files.get(1), DIRECT);
                    FileChannel index = openIndex(name, layout)) {
                List<List<String>> right = new ArrayList<>();
                for (int partition = 0; partition < 3; partition++) {
                    right.add(Scrambled.transcript(reader.partition(partition)));
                }
                Directory directory = reader.output().directory();
                for (int region = 0; region < directory.size(); region++) {
                    for (int at = 0; at < directory.messageSize(region); at++) {
                        everyChange(reader, right, index, directory.messageOffset(region) + HEADER + at);
                    }
                }
                assertEquals(right.get(2), Scrambled.transcript(reader.partition(2)));
            }
        }
    }

    private static void everyChange(Reader reader, List<List<String>> right, FileChannel index, long at)
            throws IOException {
        for (int change : new int[] {1, 2, 4, 8, 16, 32, 64, 128, 0x7F, 0xFF}) {
            byte before = xor(index, at, change);
            for (int partition = 0; partition < right.size(); partition++) {
                List<String> found = Scrambled.transcript(reader.partition(partition));
                isRight(right.get(partition), found, partition + ": " + at + " xor " + change);
            }
            index.write(ByteBuffer.wrap(new byte[] {before}), at);
        }
    }

    /**
     * Writes an output of many partitions with one region; every partition that is a multiple of {@code each} has
     * records.
     */
    private Reader openLarge(String text, int partitions, int each, boolean multicast) throws FaroException {
        Path name = folder.resolve(text);
        WriterOptions options = new WriterOptions(partitions).layout(Layout.PAIRED).statistics(false);
        try (Writer writer = Writer.create(name, options)) {
            for (int partition = 0; partition < partitions; partition += each) {
                writer.write(partition, Outputs.bytes("x"));
            }
            for (int i = 0; multicast && i < 4; i++) {
                writer.multicast(new int[] {0, 10 + i, partitions - 1}, Outputs.bytes("to some"));
            }
            writer.finish();
        }
        List<Path> files = Outputs.files(name, Layout.PAIRED).stream().map(system::path).toList();
        return Reader.openPair(files.get(0), files.get(1), DIRECT);
    }

    /** The maximum number of bytes of the index that one lookup reads, over some partitions. */
    private long maxBytes(Reader reader, String index, int partitions) throws FaroException {
        long max = 0;
        Random random = new Random(partitions);
        for (int i = 0; i < 300; i++) {
            int partition = i == 0 ? 0 : i == 1 ? partitions - 1 : random.nextInt(partitions);
            long before = system.bytesRead(index);
            reader.storedBytes(partition);
            max = Math.max(max, system.bytesRead(index) - before);
        }
        assertTrue(max > 0, "some are read");
        return max;
    }

    @Test
    void fewBytesOfADenseMessage() throws Exception {
        try (Reader reader = openLarge("dense", 100_000, 1, false)) {
            assertTrue(reader.output().directory().messageSize(0) > 400_000, "dense");
            long max = maxBytes(reader, "dense.index", 100_000);
            assertTrue(max < 2048, max + " bytes");
            long before = system.bytesRead("dense.index");
            assertEquals(1, Scrambled.transcript(reader.partition(77_777)).size());
            assertTrue(system.bytesRead("dense.index") - before < 2048, "also with its blocks");
        }
    }

    @Test
    void logarithmicallyManyBytesOfASparseMessage() throws Exception {
        try (Reader reader = openLarge("sparse", 100_000, 7, false)) {
            assertTrue(reader.output().directory().messageSize(0) > 110_000, "sparse");
            long max = maxBytes(reader, "sparse.index", 100_000);
            // 14 steps, of which the last six or so are in one piece.
            assertTrue(max < 14 * 256, max + " bytes");
        }
    }

    @Test
    void oneByteOfASetOfMembers() throws Exception {
        try (Reader reader = openLarge("members", 100_000, 1000, true)) {
            assertTrue(reader.output().directory().messageSize(0) > 12_500, "sets of bits");
            long max = maxBytes(reader, "members.index", 100_000);
            assertTrue(max < 22 * 256, max + " bytes");
        }
    }

    /** Everything except the reading of one partition uses whole messages, so damage is found by their checksums. */
    @Test
    void onlyOnePartitionIsLookedUpDirectly() throws Exception {
        Path name = folder.resolve("direct");
        Outputs.small(name, new WriterOptions(3).statistics(false));
        List<Path> files = Outputs.files(name, Layout.PAIRED);
        long message;
        try (Reader reader = Outputs.open(name, Layout.PAIRED)) {
            message = reader.output().directory().messageOffset(0);
        }
        try (FileChannel index = openIndex(name, Layout.PAIRED)) {
            xor(index, message + 20, 1);
        }
        try (Reader full = Outputs.open(name, Layout.PAIRED);
                Reader direct = Reader.openPair(files.get(0), files.get(1), DIRECT)) {
            assertFails(() -> full.partition(0).next());
            assertFails(() -> full.storedBytes(0));
            assertFails(() -> direct.range(0, 1).next());
            assertFails(() -> direct.byPartition(0, 1).next());
            assertFails(() -> direct.region(0));
            try (RecordCursor records = direct.records(0)) {
                assertTrue(records.next());
                assertEquals(Outputs.bytes("one"), records.record());
            }
            assertTrue(direct.storedBytes(0) > 0, "stored bytes without statistics");
        }
        assertFails(() -> {
            try (Follower follower = Follower.openPair(files.get(0), files.get(1), DIRECT)) {
                return follower.poll();
            }
        });
    }

    private interface Action {
        Object run() throws FaroException;
    }

    private static void assertFails(Action action) {
        assertEquals(ErrorCode.CHECKSUM, assertThrows(FaroException.class, action::run).code());
    }

    @Test
    void followersHaveTheSameBlocks() throws Exception {
        Path name = folder.resolve("followed");
        Outputs.small(name, new WriterOptions(3).layout(Layout.SINGLE));
        Path file = Outputs.file(name, ".faro");
        try (Follower follower = Follower.openSingle(file, DIRECT); Reader reader = Reader.openSingle(file, DIRECT)) {
            assertTrue(follower.poll());
            assertEquals(Outputs.contents(reader), Outputs.contents(follower));
        }
    }
}
