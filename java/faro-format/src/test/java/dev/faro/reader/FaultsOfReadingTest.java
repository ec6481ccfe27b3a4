package dev.faro.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.codec.Codec;
import dev.faro.follow.Follower;
import dev.faro.testing.Errors;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingFileSystem;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Files that change, shrink or disappear under an open reader, and reads that return fewer bytes than requested. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FaultsOfReadingTest {
    private static final ReaderOptions NO_CACHE = ReaderOptions.DEFAULT.withCacheBytes(0);

    private final RecordingFileSystem system = new RecordingFileSystem();

    @TempDir
    Path folder;

    private Path output(Layout layout) throws FaroException {
        Path name = folder.resolve("x" + layout);
        Outputs.small(name, new WriterOptions(3).layout(layout).codec(Codec.LZ4).blockSize(64));
        return name;
    }

    private static Reader open(Path name, Layout layout, ReaderOptions options) throws FaroException {
        return layout == Layout.SINGLE ? Reader.openSingle(Outputs.file(name, ".faro"), options)
                : Reader.openPair(Outputs.file(name, ".data"), Outputs.file(name, ".index"), options);
    }

    private Reader openRecorded(Path name, Layout layout) throws FaroException {
        return layout == Layout.SINGLE
                ? Reader.openSingle(system.path(Outputs.file(name, ".faro")), NO_CACHE)
                : Reader.openPair(
                        system.path(Outputs.file(name, ".data")), system.path(Outputs.file(name, ".index")), NO_CACHE);
    }

    private static FaroException expect(ErrorCode code, FileRole role, Executable call) {
        FaroException e = Errors.expect(code, call);
        assertEquals(role, e.role(), e.getMessage());
        return e;
    }

    @Test
    void shortReadsReadTheSame() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = output(layout);
            String whole;
            try (Reader reader = open(name, layout, NO_CACHE)) {
                whole = Outputs.contents(reader);
            }
            for (int max : new int[] {1, 5, 64}) {
                system.pieces().set(max, 3);
                try (Reader reader = openRecorded(name, layout)) {
                    assertEquals(whole, Outputs.contents(reader));
                    Check.check(reader, CheckLevel.DECODE);
                }
            }
        }
    }

    @Test
    void aChannelWithoutBytesIsAnErrorAndNotAnEndlessLoop() throws Exception {
        Path name = output(Layout.PAIRED);
        try (Reader reader = openRecorded(name, Layout.PAIRED)) {
            system.pieces().set(1, 0);
            FaroException e = expect(ErrorCode.IO, FileRole.INDEX, () -> Outputs.contents(reader));
            assertTrue(e.getMessage().contains("returns neither bytes"), e.getMessage());
        }
        expect(ErrorCode.IO, FileRole.INDEX, () -> openRecorded(name, Layout.PAIRED));
    }

    /** Each read is refused once. The call fails with io, for good if it is a cursor's, and the reader still works. */
    @Test
    void aReadThatFails() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = output(layout);
            int failures = 0;
            boolean failed = true;
            while (failed) {
                failed = failsAtRead(name, layout, failures++);
            }
            assertTrue(failures > 6, failures + " reads");
        }
    }

    private boolean failsAtRead(Path name, Layout layout, int number) throws Exception {
        system.refuseRead(number);
        try (Reader reader = openRecorded(name, layout)) {
            BlockCursor blocks = reader.all();
            try {
                while (blocks.next()) {
                    blocks.framedPayload();
                }
                return system.reads() > number;
            } catch (FaroException e) {
                assertEquals(ErrorCode.IO, e.code());
                FaroException again = expect(e.code(), e.role(), blocks::next);
                assertEquals(e.getMessage(), again.getMessage());
                blocks.close();
                assertEquals(8, Outputs.readAll(reader));
            }
        } catch (FaroException e) {
            assertEquals(ErrorCode.IO, e.code());
            openRecorded(name, layout).close();
        }
        return true;
    }

    /** FOL-2: a failed poll changes nothing. */
    @Test
    void aFollowerCanPollAgainAfterAFailedRead() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = output(layout);
            List<Path> files = Outputs.files(name, layout).stream().map(system::path).toList();
            system.refuseRead(-1);
            try (Follower follower = layout == Layout.SINGLE ? Follower.openSingle(files.get(0), NO_CACHE)
                    : Follower.openPair(files.get(0), files.get(1), NO_CACHE)) {
                system.refuseRead(0);
                expect(ErrorCode.IO, layout == Layout.SINGLE ? FileRole.SINGLE : FileRole.INDEX, follower::poll);
                assertEquals(0, follower.regionCount());
                assertTrue(follower.poll());
                assertEquals(8, Outputs.readAll(follower));
            }
        }
    }

    /** BLK-8: bytes that are not cut read as before; a read of the others reports the new end of the file. */
    @Test
    void filesThatShrinkUnderAReader() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = output(layout);
            for (Path file : Outputs.files(name, layout)) {
                byte[] bytes = Files.readAllBytes(file);
                // Blocks begin at multiples of 8, so steps of 3 reach each position in them.
                for (int size = 0; size < bytes.length; size += 3) {
                    try (Reader reader = open(name, layout, NO_CACHE);
                            FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                        String whole = Outputs.contents(reader);
                        channel.truncate(size);
                        readCut(reader, whole, size, file);
                    } finally {
                        Files.write(file, bytes);
                    }
                }
            }
        }
    }

    private static void readCut(Reader reader, String whole, int size, Path file) throws Exception {
        try {
            assertEquals(whole, Outputs.contents(reader));
            // Only the footer and the tail are gone, which were read at opening.
            assertFalse(file.toString().endsWith(".data"), "cut at " + size);
        } catch (FaroException e) {
            assertEquals(ErrorCode.TRUNCATED, e.code(), e.getMessage());
            assertEquals(size, e.offset(), e.getMessage());
        }
    }

    /** No changed byte is delivered, whether it changed before the reader looked at it or in between. */
    @Test
    void filesThatChangeUnderAReader() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = output(layout);
            for (Path file : Outputs.files(name, layout)) {
                byte[] bytes = Files.readAllBytes(file);
                try (Reader reader = open(name, layout, NO_CACHE);
                        FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    String whole = Outputs.contents(reader);
                    for (int at = 0; at < bytes.length; at++) {
                        channel.write(ByteBuffer.wrap(new byte[] {(byte) (bytes[at] ^ 0x40)}), at);
                        boolean failed = !readsAs(reader, whole);
                        // Some of the other bytes are not read again: headers, the footer, the tail.
                        boolean needed = file.toString().endsWith(".data") && at >= 64;
                        assertTrue(failed || !needed, file + " at " + at);
                        channel.write(ByteBuffer.wrap(bytes, at, 1), at);
                    }
                    assertEquals(whole, Outputs.contents(reader));
                }
            }
        }
    }

    /** Whether everything reads as before; false if there is a fault. */
    private static boolean readsAs(PartitionReader reader, String whole) throws Exception {
        try {
            assertEquals(whole, Outputs.contents(reader));
            return true;
        } catch (FaroException e) {
            assertFalse(e.code() == ErrorCode.IO, e.getMessage());
            return false;
        }
    }

    /** A region in the cache does not need its message any more. */
    @Test
    void regionsInTheCacheOutlastTheIndex() throws Exception {
        Path name = output(Layout.PAIRED);
        try (Reader reader = Outputs.open(name, Layout.PAIRED)) {
            String whole = Outputs.contents(reader);
            Files.write(Outputs.file(name, ".index"), new byte[0]);
            assertEquals(whole, Outputs.contents(reader));
            expect(ErrorCode.TRUNCATED, FileRole.INDEX, () -> Check.check(reader, CheckLevel.STRUCTURE));
        }
    }

    @Test
    void missingFilesAndFilesOfTwoOutputs() throws Exception {
        Path name = output(Layout.PAIRED);
        Path other = folder.resolve("other");
        try (Writer writer = Writer.create(other, new WriterOptions(3).fileId(new UUID(9, 9)))) {
            writer.finish();
        }
        Path data = Outputs.file(name, ".data");
        Path index = Outputs.file(name, ".index");
        Path missing = folder.resolve("missing");
        FaroException e = expect(ErrorCode.MISMATCHED_PAIR, FileRole.DATA,
                () -> Reader.openPair(Outputs.file(other, ".data"), index, NO_CACHE));
        assertEquals(40, e.offset());
        expect(ErrorCode.IO, FileRole.INDEX, () -> Reader.openPair(data, missing, NO_CACHE));
        expect(ErrorCode.IO, FileRole.INDEX, () -> Reader.openPair(missing, missing, NO_CACHE));
        expect(ErrorCode.IO, FileRole.DATA, () -> Reader.openPair(missing, index, NO_CACHE));
        expect(ErrorCode.IO, FileRole.SINGLE, () -> Reader.openSingle(missing, NO_CACHE));
        expect(ErrorCode.IO, FileRole.DATA, () -> Reader.openPair(folder, index, NO_CACHE));
        expect(ErrorCode.IO, FileRole.INDEX, () -> Reader.openPair(data, folder, NO_CACHE));
        expect(ErrorCode.IO, FileRole.SINGLE, () -> Follower.openSingle(folder, NO_CACHE));
        Path circle = Files.createSymbolicLink(folder.resolve("circle"), folder.resolve("circle"));
        expect(ErrorCode.IO, FileRole.INDEX, () -> Reader.openPair(data, circle, NO_CACHE));
        // A fault of the index file is reported before a missing data file.
        Files.write(index, new byte[3]);
        expect(ErrorCode.NOT_FARO, FileRole.INDEX, () -> Reader.openPair(missing, index, NO_CACHE));
    }

    @Test
    void filesThatMayNotBeRead() throws Exception {
        Path name = output(Layout.PAIRED);
        for (FileRole role : new FileRole[] {FileRole.DATA, FileRole.INDEX}) {
            system.unreadable(name.getFileName() + "." + role);
            FaroException e = expect(ErrorCode.IO, role, () -> openRecorded(name, Layout.PAIRED));
            assertEquals(FaroException.NO_OFFSET, e.offset());
        }
        system.unreadable(null);
        openRecorded(name, Layout.PAIRED).close();
    }

    /** OPN-4: without the check this would wait for ever. */
    @Test
    void aPipeIsNotWaitedFor() throws Exception {
        Path pipe = folder.resolve("pipe");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/mkfifo")));
        assertEquals(0, new ProcessBuilder("/usr/bin/mkfifo", pipe.toString()).start().waitFor());
        Path name = output(Layout.PAIRED);
        expect(ErrorCode.IO, FileRole.SINGLE, () -> Reader.openSingle(pipe, NO_CACHE));
        expect(ErrorCode.IO, FileRole.DATA, () -> Reader.openPair(pipe, Outputs.file(name, ".index"), NO_CACHE));
        expect(ErrorCode.IO, FileRole.INDEX, () -> Follower.openPair(Outputs.file(name, ".data"), pipe, NO_CACHE));
    }

    @Test
    void aCursorAfterItsEnd() throws Exception {
        Path name = output(Layout.PAIRED);
        Reader reader = Outputs.open(name, Layout.PAIRED);
        BlockCursor blocks = reader.partition(0);
        assertTrue(blocks.next());
        blocks.close();
        blocks.close();
        assertFalse(blocks.next());
        assertThrows(IllegalStateException.class, blocks::payload);
        assertThrows(IllegalStateException.class, blocks::kind);
        BlockCursor open = reader.all();
        assertTrue(open.next());
        reader.close();
        reader.close();
        // The regions in the cache are gone too.
        expect(ErrorCode.IO, FileRole.INDEX, () -> Outputs.contents(reader));
    }
}
