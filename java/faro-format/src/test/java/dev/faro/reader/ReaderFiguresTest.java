package dev.faro.reader;

import static dev.faro.testing.Errors.expect;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.codec.Codec;
import dev.faro.index.RegionCache;
import dev.faro.testing.Outputs;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The figures and the memory of readers, and a cache that they share. */
class ReaderFiguresTest {
    private static final int PARTITIONS = 5;
    private static final int REGIONS = 3;

    @TempDir
    Path folder;

    private Path write(String name, int partitions) throws IOException {
        Path path = folder.resolve(name);
        Outputs.even(path, partitions, REGIONS, 5000);
        return path;
    }

    @Test
    void figuresCountWhatWasRead() throws Exception {
        Path name = write("even", PARTITIONS);
        Reader reader = Reader.open(name, ReaderOptions.DEFAULT);
        long opening = reader.figures().reads();
        long openingBytes = reader.figures().bytesRead();
        assertTrue(opening >= 3 && openingBytes > 0, reader.figures().toString());
        try (BlockCursor blocks = reader.partition(1)) {
            long count = 0;
            while (blocks.next()) {
                count++;
            }
            ReaderFigures figures = reader.figures();
            assertEquals(count, figures.blocks());
            // A record of 5,000 bytes, with its length, in blocks of 2,000.
            assertEquals(REGIONS * 5004L, figures.plainBytes());
            assertEquals(REGIONS * 5004L, figures.storedBytes());
            assertEquals(REGIONS, figures.regionsRead());
            assertEquals(0, figures.regionsCached());
            assertTrue(figures.readNanos() > 0);
            assertTrue(figures.bytesRead() - openingBytes >= reader.storedBytes(1), figures.toString());
        }
        try (BlockCursor blocks = reader.partition(2)) {
            assertTrue(blocks.next());
        }
        assertEquals(REGIONS, reader.figures().regionsRead());
        assertTrue(reader.figures().regionsCached() > 0);
        long before = reader.figures().reads();
        reader.byPartition(0, PARTITIONS).next();
        assertEquals(before + 1, reader.figures().reads());
        reader.close();
        assertEquals(before + 1, reader.figures().reads());
    }

    @Test
    void aSingleFileIsCountedOnce() throws Exception {
        Path name = folder.resolve("small");
        Outputs.small(name, new WriterOptions(3).layout(Layout.SINGLE));
        try (Reader reader = Outputs.open(name, Layout.SINGLE)) {
            Outputs.readAll(reader);
            long size = Files.size(Outputs.file(name, ".faro"));
            // The header is read once when it is opened.
            assertTrue(reader.figures().bytesRead() < 4 * size, reader.figures() + " of " + size);
        }
    }

    @Test
    void memoryIsGivenBackWhenTheReaderIsClosed() throws Exception {
        Path name = folder.resolve("dictionaries");
        byte[] record = new byte[200];
        Random random = new Random(5);
        WriterOptions options = new WriterOptions(PARTITIONS).codec(Codec.ZSTD).dictionaries(true).blockSize(1000);
        random.nextBytes(record);
        try (Writer writer = Writer.create(name, options)) {
            for (int i = 0; i < 4000; i++) {
                record[random.nextInt(20)] = (byte) random.nextInt(4);
                writer.write(i % PARTITIONS, ByteBuffer.wrap(record));
            }
            writer.finish();
        }
        Reader reader = Reader.open(name, ReaderOptions.DEFAULT);
        assertEquals(0, reader.memoryUsed());
        BlockCursor open = reader.partition(1);
        assertTrue(open.next());
        long regions = reader.memoryUsed();
        assertTrue(regions > 0);
        open.payload();
        assertEquals(regions + 2 * reader.dictionarySize(0), reader.memoryUsed());
        try (BlockCursor blocks = reader.partition(2)) {
            assertTrue(blocks.next());
        }
        assertTrue(reader.memoryUsed() > regions + 2 * reader.dictionarySize(0));
        assertEquals(reader.memoryUsed(), reader.figures().memoryUsed());
        reader.close();
        open.close();
        assertEquals(0, reader.memoryUsed());
    }

    @Test
    void readersShareACache() throws Exception {
        Path one = write("one", 1000);
        Path two = write("two", 1000);
        // Two regions of about 4,300 bytes each.
        RegionCache cache = new RegionCache(10_000);
        ReaderOptions options = ReaderOptions.DEFAULT.withRegionCache(cache);
        Reader first = Reader.open(one, options);
        try (Reader second = Reader.open(two, options)) {
            first.region(0);
            first.region(0);
            assertEquals(1, first.figures().regionsCached());
            long size = cache.memoryUsed();
            assertTrue(size > 4000);
            assertEquals(size, first.memoryUsed());
            second.region(0);
            assertEquals(2 * size, cache.memoryUsed());
            first.region(0);
            // The region of the second reader was used least recently, and leaves.
            first.region(1);
            assertEquals(0, second.memoryUsed());
            assertEquals(2 * size, first.memoryUsed());
            second.region(0);
            assertEquals(2, second.figures().regionsRead());
            assertTrue(cache.memoryUsed() <= cache.bytes());
            first.close();
            assertEquals(size, cache.memoryUsed());
            assertEquals(size, second.memoryUsed());
        }
        assertEquals(0, cache.memoryUsed());
        expect(ErrorCode.INVALID_ARGUMENT, () -> new RegionCache(-1));
    }

    /** Two copies of one output have the same file_id. A reader never gets a region of the other file. */
    @Test
    void aCacheDoesNotMixFiles() throws Exception {
        Path one = write("one", PARTITIONS);
        Path other = folder.resolve("other");
        Files.copy(Outputs.file(one, ".data"), Outputs.file(other, ".data"));
        byte[] index = Files.readAllBytes(Outputs.file(one, ".index"));
        ReaderOptions options = ReaderOptions.DEFAULT.withRegionCache(new RegionCache(1 << 20));
        try (Reader first = Reader.open(one, options)) {
            index[(int) first.output().directory().messageOffset(1) + 40] ^= 1;
            Files.write(Outputs.file(other, ".index"), index);
            first.region(1);
            try (Reader second = Reader.open(other, options)) {
                expect(ErrorCode.CHECKSUM, () -> second.region(1));
            }
        }
    }
}
