package dev.faro.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingFileSystem;
import dev.faro.testing.Scrambled;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Partitions that are read one after another in windows: the same blocks and faults as with a cursor for each. */
class ByPartitionTest {
    private static final ReaderOptions NO_CACHE = ReaderOptions.DEFAULT.withCacheBytes(0);

    private final RecordingFileSystem system = new RecordingFileSystem();

    @TempDir
    Path folder;

    /** Reads a range by partition: the transcript of each partition, up to the fault. */
    private static List<List<String>> byPartition(Reader reader, int from, int to) throws FaroException {
        List<List<String>> transcripts = new ArrayList<>();
        BlockCursor blocks = reader.byPartition(from, to);
        try (blocks) {
            while (blocks.next()) {
                assertTrue(blocks.isFor(blocks.reading()));
                while (transcripts.size() <= blocks.reading() - from) {
                    transcripts.add(new ArrayList<>());
                }
                transcripts.get(transcripts.size() - 1).add(Scrambled.describe(blocks));
            }
            assertEquals(transcripts.size(), Math.min(transcripts.size(), to - from));
            while (transcripts.size() < to - from) {
                transcripts.add(new ArrayList<>());
            }
        } catch (FaroException e) {
            while (transcripts.size() <= Math.max(0, blocks.reading() - from)) {
                transcripts.add(new ArrayList<>());
            }
            transcripts.get(transcripts.size() - 1).add(e.getMessage());
            assertEquals(e.getMessage(), assertThrows(FaroException.class, blocks::next).getMessage());
        }
        return transcripts;
    }

    private static void compare(Reader reader, List<List<String>> each, int first, int from, int to, String what)
            throws FaroException {
        List<List<String>> expected = new ArrayList<>(each.subList(from - first, to - first));
        List<List<String>> found = byPartition(reader, from, to);
        // Nothing is delivered after a fault.
        for (int i = 0; i < found.size(); i++) {
            List<String> transcript = expected.get(i);
            if (!transcript.isEmpty() && transcript.get(transcript.size() - 1).contains("expected")) {
                expected = expected.subList(0, i + 1);
                break;
            }
        }
        assertEquals(expected, found, what);
    }

    @Test
    void theSameAsOneByOne() throws Exception {
        int faults = 0;
        for (int seed = 0; seed < 400; seed++) {
            Random random = new Random(seed);
            Scrambled output = Scrambled.write(folder.resolve("random"), random, 1 + random.nextInt(3000));
            if (seed % 2 == 1) {
                output.damage(random);
            }
            try (Reader reader = output.open(seed % 3 == 0 ? NO_CACHE : ReaderOptions.DEFAULT)) {
                List<List<String>> each = output.transcripts(reader);
                int end = output.first + output.partitions;
                compare(reader, each, output.first, output.first, end, "seed " + seed);
                int from = output.first + random.nextInt(output.partitions);
                compare(reader, each, output.first, from, from + random.nextInt(end - from + 1), "seed " + seed);
                faults += each.stream().anyMatch(transcript -> transcript.toString().contains("expected")) ? 1 : 0;
            } catch (FaroException e) {
                assertTrue(seed % 2 == 1, "seed " + seed);
            }
        }
        assertTrue(faults > 50, faults + " with faults");
    }

    private static List<String> sizes(BlockCursor blocks) throws FaroException {
        List<String> sizes = new ArrayList<>();
        try (blocks) {
            while (blocks.next()) {
                sizes.add(blocks.reading() + "@" + blocks.offset() + "+" + blocks.payload().remaining());
            }
        }
        return sizes;
    }

    /** Writes enough for many windows, with partitions in between that are larger than a window. */
    private void writeLarge(Path name) throws FaroException {
        byte[] record = new byte[25_000];
        Random random = new Random(1);
        random.nextBytes(record);
        try (Writer writer = Writer.create(name, new WriterOptions(60).rotation(7).bufferSize(64 << 20))) {
            for (int region = 0; region < 3; region++) {
                for (int i = 0; i < 500; i++) {
                    int partition = random.nextInt(8) == 0 ? random.nextInt(3) * 20 : random.nextInt(60);
                    writer.write(partition, ByteBuffer.wrap(record, 0, 1 + random.nextInt(record.length)));
                }
                writer.multicast(new int[] {3, 59}, ByteBuffer.wrap(record));
                writer.flush();
            }
            writer.finish();
        }
    }

    @Test
    void severalWindowsAndLargePartitions() throws Exception {
        Path name = folder.resolve("large");
        writeLarge(name);
        List<Path> files = Outputs.files(name, Layout.PAIRED).stream().map(system::path).toList();
        try (Reader reader = Reader.openPair(files.get(0), files.get(1), ReaderOptions.DEFAULT)) {
            List<String> expected = new ArrayList<>();
            for (int partition = 0; partition < 60; partition++) {
                expected.addAll(sizes(reader.partition(partition)));
            }
            system.refuseRead(-1);
            assertEquals(expected, sizes(reader.byPartition(0, 60)));
            // Two or three of 57 partitions fit into a window, which has a read for each of three regions; a rotation needs
            // two, shared extents one more. The three large ones take two reads in each region.
            assertTrue(system.reads() < 57 / 2 * 3 + 3 * 3 * 2 + 40, system.reads() + " reads");
        }
    }

    /** If the system refuses a read, the cursor fails, whichever read it is. */
    @Test
    void refusedReads() throws Exception {
        Path name = folder.resolve("refused");
        writeLarge(name);
        List<Path> files = Outputs.files(name, Layout.PAIRED).stream().map(system::path).toList();
        int refused = 0;
        for (int i = 0; i < 40; i++) {
            try (Reader reader = Reader.openPair(files.get(0), files.get(1), ReaderOptions.DEFAULT)) {
                system.refuseRead(i);
                FaroException e = assertThrows(FaroException.class, () -> sizes(reader.byPartition(0, 60)));
                assertEquals(ErrorCode.IO, e.code());
                refused++;
                system.refuseRead(-1);
                assertFalse(sizes(reader.byPartition(0, 60)).isEmpty());
            }
        }
        assertEquals(40, refused);
    }

    @Test
    void rangesOutsideTheFile() throws Exception {
        Path name = folder.resolve("small");
        Outputs.small(name, new WriterOptions(3));
        try (Reader reader = Outputs.open(name, Layout.PAIRED)) {
            for (int[] range : new int[][] {{-1, 2}, {2, 1}, {0, 4}}) {
                FaroException e =
                        assertThrows(FaroException.class, () -> reader.byPartition(range[0], range[1]));
                assertEquals(ErrorCode.INVALID_ARGUMENT, e.code());
            }
            try (BlockCursor none = reader.byPartition(3, 3)) {
                assertFalse(none.next());
            }
        }
    }
}
