package dev.faro.reader;

import static dev.faro.testing.Errors.expect;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.codec.Codec;
import dev.faro.index.Region;
import dev.faro.scheduler.Scheduler;
import dev.faro.scheduler.SchedulerOptions;
import dev.faro.storage.Wanted;
import dev.faro.testing.Bringer;
import dev.faro.testing.Outputs;
import dev.faro.testing.Scrambled;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Opening and reading without I/O, compared with a reader that reads. */
@Timeout(120)
class OpeningTest {
    private static final int SEEDS = Integer.getInteger("faro.seeds", 400);

    @TempDir
    Path folder;

    private Path name(int number) {
        return folder.resolve("output" + number);
    }

    /** Random outputs, whole, damaged and cut; both layouts and lookups; bytes in random order and pieces. */
    @Test
    void theSameBlocksAndFaultsAsAReaderThatReads() throws Exception {
        int refused = 0;
        int faults = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            Scrambled output = Scrambled.write(name(seed), random, 1 + random.nextInt(2000));
            if (random.nextBoolean()) {
                output.damage(random);
            }
            List<Path> files = Outputs.files(output.name, output.layout);
            if (random.nextInt(4) == 0) {
                cut(files.get(random.nextInt(files.size())), random);
            }
            ReaderOptions options = ReaderOptions.DEFAULT.withLookup(Lookup.values()[random.nextInt(2)])
                    .withVerify(random.nextInt(4) > 0).withCacheBytes(random.nextBoolean() ? 0 : 1 << 20);
            Bringer bringer = new Bringer(files, random);
            String context = "seed " + seed;
            Reader reading;
            try {
                reading = output.open(options);
            } catch (FaroException e) {
                refused++;
                FaroException found = assertThrows(FaroException.class, () -> bringer.open(options), context);
                assertEquals(e.getMessage(), found.getMessage(), context);
                continue;
            }
            try (reading; Reader brought = bringer.open(options)) {
                for (int i = 0; i < 6; i++) {
                    int from = output.first + random.nextInt(output.partitions);
                    int to = i < 3 ? from + 1 : from + random.nextInt(output.first + output.partitions - from + 1);
                    List<String> expected = Scrambled.transcript(
                            to == from + 1 ? reading.partition(from) : reading.range(from, to));
                    if (expected.toString().contains("offset")) {
                        faults++;
                    }
                    assertEquals(expected, bringer.transcript(new Feed(brought, from, to, bringer::taken)), context);
                }
            }
            assertEquals(0, bringer.outstanding(), context);
        }
        assertTrue(refused > SEEDS / 20 && faults > SEEDS / 20, refused + " refused, " + faults + " faults");
    }

    private static void cut(Path file, Random random) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)));
    }

    private static WriterOptions options(Layout layout) {
        return new WriterOptions(3).layout(layout).overwrite(true);
    }

    /** The figures of docs/storage.md: 2 requests for a pair, at once; 1 or 2 for a single file. */
    @Test
    void fewRequests() throws Exception {
        Path name = name(0);
        Outputs.small(name, options(Layout.PAIRED));
        Bringer pair = new Bringer(Outputs.files(name, Layout.PAIRED));
        pair.open(ReaderOptions.DEFAULT).close();
        assertEquals(List.of(List.of(new Wanted(FileRole.INDEX, Wanted.FROM_END, 1 << 20),
                new Wanted(FileRole.DATA, 0, 64))), pair.rounds());
        Outputs.small(name, options(Layout.SINGLE));
        Bringer small = new Bringer(Outputs.files(name, Layout.SINGLE));
        try (Reader reader = small.open(ReaderOptions.DEFAULT)) {
            assertEquals(1, small.rounds().size());
            // The blocks are in memory already.
            small.transcript(new Feed(reader, 0, 1, small::taken));
            assertEquals(1, small.rounds().size());
        }
        try (Writer writer = Writer.create(name, options(Layout.SINGLE))) {
            for (int i = 0; i < 3; i++) {
                writer.write(i, ByteBuffer.allocate(100_000));
                writer.flush();
            }
            writer.finish();
        }
        Bringer large = new Bringer(Outputs.files(name, Layout.SINGLE));
        try (Reader reader = large.open(ReaderOptions.DEFAULT)) {
            assertEquals(2, large.rounds().size());
            assertEquals(3, large.transcript(new Feed(reader, 0, 3, large::taken)).size());
            // The first two regions' messages were wanted together; that of the last was at the end.
            assertEquals(2, large.rounds().get(2).size());
        }
    }

    /** A lookup asks for what all regions lack at once, so the number of rounds does not grow with the regions. */
    @Test
    void directLookupWantsAllRegionsAtOnce() throws Exception {
        Outputs.even(name(0), 20_000, 20, 1);
        Bringer bringer = new Bringer(Outputs.files(name(0), Layout.PAIRED));
        try (Reader reader = bringer.open(ReaderOptions.DEFAULT.withLookup(Lookup.DIRECT))) {
            int before = bringer.rounds().size();
            long indexBytes = bringer.brought(FileRole.INDEX);
            assertEquals(20, bringer.transcript(new Feed(reader, 7, 8, bringer::taken)).size());
            assertTrue(bringer.rounds().size() - before < 10, bringer.rounds().toString());
            assertTrue(bringer.brought(FileRole.INDEX) - indexBytes < 20 * 2000);
        }
    }

    /** The lookup reports the fault of the first of two regions, even if it sees the other one first. */
    @Test
    void theFirstFaultOfALookup() throws Exception {
        Outputs.even(name(0), 300, 4, 1);
        Path index = Outputs.file(name(0), ".index");
        byte[] bytes = Files.readAllBytes(index);
        ReaderOptions options = ReaderOptions.DEFAULT.withLookup(Lookup.DIRECT);
        try (Reader reader = Outputs.open(name(0), Layout.PAIRED)) {
            for (int region = 1; region < 4; region += 2) {
                int message = (int) reader.output().directory().messageOffset(region) + 24;
                Arrays.fill(bytes, message, message + 100, (byte) -1);
            }
        }
        Files.write(index, bytes);
        for (int seed = 0; seed < 20; seed++) {
            Bringer bringer = new Bringer(Outputs.files(name(0), Layout.PAIRED), new Random(seed));
            try (Reader reading = Reader.open(name(0), options); Reader brought = bringer.open(options)) {
                List<String> expected = Scrambled.transcript(reading.partition(7));
                assertTrue(expected.get(0).startsWith("inconsistent-index"), expected.toString());
                assertEquals(expected, bringer.transcript(new Feed(brought, 7, 8, bringer::taken)));
            }
        }
    }

    @Test
    void dictionariesAreWanted() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = name(0);
            byte[] record = new byte[200];
            Random random = new Random(5);
            random.nextBytes(record);
            WriterOptions options = options(layout).codec(Codec.ZSTD).dictionaries(true).blockSize(1000);
            try (Writer writer = Writer.create(name, options)) {
                for (int i = 0; i < 4000; i++) {
                    record[random.nextInt(20)] = (byte) random.nextInt(4);
                    writer.write(i % 3, ByteBuffer.wrap(record));
                }
                writer.finish();
            }
            Bringer bringer = new Bringer(Outputs.files(name, layout), random);
            try (Reader reading = Outputs.open(name, layout); Reader brought = bringer.open(ReaderOptions.DEFAULT)) {
                assertTrue(reading.dictionaryCount() > 0);
                assertEquals(Scrambled.transcript(reading.partition(1)),
                        bringer.transcript(new Feed(brought, 1, 2, bringer::taken)));
            }
        }
    }

    /** Calls without a feed say what they lack, and can be repeated. */
    @Test
    void callsThatLackBytes() throws Exception {
        Outputs.even(name(0), 60_000, 6, 1);
        Bringer bringer = new Bringer(Outputs.files(name(0), Layout.PAIRED));
        try (Reader reader = bringer.open(ReaderOptions.DEFAULT);
                Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT)) {
            FaroException lacking = expect(ErrorCode.IO, () -> reader.region(0));
            assertEquals(FileRole.INDEX, lacking.role());
            Region region = null;
            while (region == null) {
                try {
                    region = reader.region(0);
                } catch (FaroException e) {
                    assertTrue(!Opening.wantedBy(e).isEmpty(), e.getMessage());
                    bringer.bring(Opening.wantedBy(e));
                }
            }
            assertEquals(60_000, region.slots());
            expect(ErrorCode.INVALID_ARGUMENT, () -> scheduler.partition(reader, 0));
            assertEquals(List.of(), Opening.wantedBy(FaroException.invalidArgument("a", "b")));
        }
    }

    @Test
    void failuresOfTheCaller() throws Exception {
        Path name = name(0);
        Outputs.small(name, options(Layout.PAIRED));
        Opening opening = Opening.ofPair("d", "i", ReaderOptions.DEFAULT);
        assertThrows(IllegalStateException.class, opening::reader);
        ByteBuffer bytes = ByteBuffer.allocate(8);
        expect(ErrorCode.INVALID_ARGUMENT, () -> opening.bring(FileRole.SINGLE, 0, bytes, 8));
        expect(ErrorCode.INVALID_ARGUMENT, () -> opening.bring(FileRole.DATA, 1, bytes, 8));
        expect(ErrorCode.INVALID_ARGUMENT, () -> opening.bring(FileRole.DATA, -1, bytes, 8));
        expect(ErrorCode.INVALID_ARGUMENT, () -> opening.bring(FileRole.DATA, 0, bytes, -1));
        opening.bring(FileRole.DATA, 0, bytes, 8);
        expect(ErrorCode.INVALID_ARGUMENT, () -> opening.bring(FileRole.DATA, 0, bytes, 9));
        IOException cause = new IOException("gone");
        opening.fail(FileRole.INDEX, cause);
        FaroException e = expect(ErrorCode.IO, opening::want);
        assertEquals(FileRole.INDEX, e.role());
        assertSame(cause, e.getCause());
        assertEquals(e.getMessage(), expect(ErrorCode.IO, opening::want).getMessage());
    }

    @Test
    void aFailureWhileAFeedReads() throws Exception {
        Outputs.even(name(0), 60_000, 6, 1);
        Bringer bringer = new Bringer(Outputs.files(name(0), Layout.PAIRED));
        Reader reader = bringer.open(ReaderOptions.DEFAULT);
        try (Feed feed = new Feed(reader, 0, 1, bringer::taken)) {
            assertTrue(feed.want(1 << 20));
            assertTrue(!feed.wantedIndex().isEmpty());
            bringer.opening().fail(FileRole.INDEX, new IOException("gone"));
            expect(ErrorCode.IO, () -> feed.want(1 << 20));
            // Once told, the failure is over.
            assertTrue(feed.want(1 << 20));
            reader.close();
            FaroException closed = expect(ErrorCode.IO, () -> feed.want(1 << 20));
            assertEquals(List.of(), Opening.wantedBy(closed));
        }
    }

    /** What feeds bring of the index is not kept for ever. */
    @Test
    void usedBytesAreForgotten() throws Exception {
        Outputs.even(name(0), 60_000, 30, 1);
        Bringer bringer = new Bringer(Outputs.files(name(0), Layout.PAIRED));
        try (Reader reader = bringer.open(ReaderOptions.DEFAULT.withCacheBytes(0))) {
            long opened = reader.output().files().index().brought().memory();
            assertEquals(30, bringer.transcript(new Feed(reader, 0, 1, bringer::taken)).size());
            assertTrue(bringer.brought(FileRole.INDEX) > 3 << 20);
            assertEquals(opened, reader.output().files().index().brought().memory());
        }
    }
}
