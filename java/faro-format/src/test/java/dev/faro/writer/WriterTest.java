package dev.faro.writer;

import static dev.faro.testing.Errors.expect;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.BlockKind;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.codec.Codec;
import dev.faro.reader.Reader;
import dev.faro.testing.Outputs;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class WriterTest {
    @TempDir
    Path folder;

    @Test
    void existingFilesAreRefusedOrReplaced() throws Exception {
        for (Layout layout : Layout.values()) {
            for (boolean follow : new boolean[] {false, true}) {
                Path name = folder.resolve("there" + layout + follow);
                Outputs.small(name, new WriterOptions(3).layout(layout));
                WriterOptions again = new WriterOptions(3).layout(layout).follow(follow);
                List<String> before = Outputs.names(folder);
                expect(ErrorCode.IO, () -> Writer.create(name, again));
                assertEquals(before, Outputs.names(folder));
                Outputs.small(name, again.overwrite(true));
                Outputs.check(name, layout);
                assertEquals(before, Outputs.names(folder));
            }
        }
    }

    @Test
    void temporaryNames() throws Exception {
        UUID id = UUID.fromString("0a1b2c3d-0000-4000-8000-000000000000");
        try (Writer writer = Writer.create(folder.resolve("out"), new WriterOptions(3).fileId(id))) {
            writer.write(1, Outputs.bytes("x"));
            writer.flush();
            assertEquals(List.of("out.data.0a1b2c3d.tmp", "out.index.0a1b2c3d.tmp"), Outputs.names(folder));
            writer.finish();
        }
        assertEquals(List.of("out.data", "out.index"), Outputs.names(folder));
    }

    @Test
    void abortLeavesNothing() throws Exception {
        for (Layout layout : Layout.values()) {
            for (boolean follow : new boolean[] {false, true}) {
                Path name = folder.resolve("aborted");
                Writer writer = Writer.create(name, new WriterOptions(3).layout(layout).follow(follow));
                writer.write(1, Outputs.bytes("x"));
                writer.flush();
                assertEquals(layout == Layout.SINGLE ? 1 : 2, Outputs.names(folder).size());
                writer.abort();
                writer.abort();
                assertEquals(List.of(), Outputs.names(folder));
                expect(ErrorCode.INVALID_ARGUMENT, () -> writer.write(1, Outputs.bytes("x")));
                expect(ErrorCode.INVALID_ARGUMENT, writer::finish);
            }
        }
    }

    @Test
    void aFailedWriterStaysFailed() throws Exception {
        Path name = folder.resolve("failed");
        Writer writer = Writer.create(name, new WriterOptions(3));
        writer.write(1, Outputs.bytes("x"));
        Files.createFile(Outputs.file(name, ".data"));
        FaroException first = expect(ErrorCode.IO, writer::finish);
        FaroException second = expect(ErrorCode.IO, () -> writer.write(1, Outputs.bytes("x")));
        assertEquals(first.getMessage(), second.getMessage());
        expect(ErrorCode.IO, writer::finish);
        writer.abort();
        assertEquals(List.of("failed.data"), Outputs.names(folder));
    }

    @Test
    void refusedCallsLeaveTheWriterAsItWas() throws Exception {
        Path name = folder.resolve("refused");
        try (Writer writer = Writer.create(name, new WriterOptions(3).firstPartition(10).maxPlainSize(100))) {
            writer.write(10, Outputs.bytes("x"));
            expect(ErrorCode.INVALID_ARGUMENT, () -> writer.write(9, Outputs.bytes("x")));
            expect(ErrorCode.INVALID_ARGUMENT, () -> writer.write(13, Outputs.bytes("x")));
            expect(ErrorCode.INVALID_ARGUMENT, () -> writer.writeEvent(10, 2, Outputs.bytes("x")));
            expect(ErrorCode.INVALID_ARGUMENT, () -> writer.writeEvent(10, 128, Outputs.bytes("x")));
            expect(ErrorCode.INVALID_ARGUMENT, () -> writer.multicast(new int[0], Outputs.bytes("x")));
            expect(ErrorCode.INVALID_ARGUMENT, () -> writer.multicast(new int[] {10, 13}, Outputs.bytes("x")));
            expect(ErrorCode.LIMIT_EXCEEDED, () -> writer.write(10, ByteBuffer.allocate(97)));
            expect(ErrorCode.LIMIT_EXCEEDED, () -> writer.writeEvent(10, 1, ByteBuffer.allocate(101)));
            writer.write(10, ByteBuffer.allocate(96));
            writer.property("a", "b");
            expect(ErrorCode.INVALID_ARGUMENT, () -> writer.property("a", "c"));
            expect(ErrorCode.INVALID_ARGUMENT, () -> writer.property("\ud800", "c"));
            writer.finish();
            expect(ErrorCode.INVALID_ARGUMENT, writer::flush);
            writer.abort();
        }
        assertEquals(2, Outputs.check(name, Layout.PAIRED).blocks());
    }

    @Test
    void optionsOutOfRange() {
        Path name = folder.resolve("options");
        List<WriterOptions> wrong = List.of(
                new WriterOptions(0), new WriterOptions((1 << 28) + 1), new WriterOptions(3).firstPartition(-1),
                new WriterOptions(3).firstPartition((1 << 28) - 2), new WriterOptions(3).rotation(3),
                new WriterOptions(3).blockSize(0), new WriterOptions(3).blockSize((1 << 26) + 1),
                new WriterOptions(3).bufferSize(0), new WriterOptions(3).bufferSize((1L << 33) + 1),
                new WriterOptions(3).codec(null), new WriterOptions(3).level(20),
                new WriterOptions(3).firstPartition(Long.MAX_VALUE),
                new WriterOptions(3).framing(null), new WriterOptions(3).durability(null),
                new WriterOptions(3).framing(Framing.ARROW), new WriterOptions(3).maxPlainSize(0));
        for (WriterOptions options : wrong) {
            expect(ErrorCode.INVALID_ARGUMENT, () -> Writer.create(name, options));
        }
    }

    @Test
    void optionsThatChangeLaterAreThoseOfTheNextWriter() throws Exception {
        WriterOptions options = new WriterOptions(3);
        Path name = folder.resolve("first");
        try (Writer writer = Writer.create(name, options)) {
            options.rotation(2).dictionaries(true).follow(true).durability(null);
            writer.write(2, Outputs.bytes("x"));
            writer.write(0, Outputs.bytes("y"));
            expect(ErrorCode.INVALID_ARGUMENT, () -> writer.dictionary(new byte[8]));
            writer.finish();
        }
        assertEquals(2, Outputs.check(name, Layout.PAIRED).blocks());
        try (Reader reader = Outputs.open(name, Layout.PAIRED)) {
            assertEquals(0, reader.header().readerFeatures());
        }
    }

    @Test
    void aRegionThatIsNotEndedLeavesNothing() throws Exception {
        for (Layout layout : Layout.values()) {
            byte[][] files = new byte[2][];
            for (int i = 0; i < 2; i++) {
                Path name = folder.resolve("up" + layout + i);
                WriterOptions options = new WriterOptions(4).layout(layout).fileId(new UUID(3, 4)).follow(i == 1);
                try (Writer writer = Writer.create(name, options)) {
                    writer.write(1, Outputs.bytes("before"));
                    if (i == 1) {
                        giveUp(writer);
                    } else {
                        writer.flush();
                    }
                    writer.write(1, Outputs.bytes("behind"));
                    writer.finish();
                }
                files[i] = Files.readAllBytes(Outputs.files(name, layout).get(0));
            }
            assertArrayEquals(files[0], files[1]);
        }
    }

    private static void giveUp(Writer writer) throws FaroException {
        try (RegionWriter region = writer.region()) {
            region.block(1, 0, ByteBuffer.allocate(3 << 20), 1);
            expect(ErrorCode.INVALID_ARGUMENT, () -> region.block(0, 0, ByteBuffer.allocate(1), 1));
            expect(ErrorCode.INVALID_ARGUMENT, () -> region.block(2, 0, ByteBuffer.allocate(0), 1));
            expect(ErrorCode.INVALID_ARGUMENT, () -> region.block(0, ByteBuffer.allocate(1), 1));
            ByteBuffer stored = ByteBuffer.allocate(1);
            expect(ErrorCode.INVALID_ARGUMENT,
                    () -> region.storedBlock(2, StoredBlock.of(BlockKind.DATA, null, 9, stored), 1));
            expect(ErrorCode.INVALID_ARGUMENT,
                    () -> region.storedBlock(2, StoredBlock.of(BlockKind.DATA, Codec.LZ4, 1, stored), 1));
            expect(ErrorCode.INVALID_ARGUMENT,
                    () -> region.storedBlock(2, StoredBlock.of(BlockKind.EVENT, Codec.LZ4, 2, stored), 1));
            expect(ErrorCode.INVALID_ARGUMENT, () -> writer.write(1, Outputs.bytes("x")));
            region.shared(0, 3);
            region.block(0, Outputs.bytes("shared"), 1);
            expect(ErrorCode.INVALID_ARGUMENT, () -> region.block(3, 0, ByteBuffer.allocate(1), 1));
        }
    }

    /** WRT-10 applies even if the region writer was lost, because it cannot be told from one that is still used. */
    @Test
    void onlyAbortIsAllowedWhileARegionIsOpen() throws Exception {
        for (Layout layout : Layout.values()) {
            for (boolean follow : new boolean[] {false, true}) {
                Path name = folder.resolve("open" + layout + follow);
                WriterOptions options = new WriterOptions(4).layout(layout).follow(follow).dictionaries(true);
                Writer writer = Writer.create(name, options);
                writer.write(1, Outputs.bytes("before"));
                // Neither ended nor closed.
                writer.region().block(2, 0, ByteBuffer.allocate(7), 1);
                byte[] dictionary = {0x37, (byte) 0xA4, 0x30, (byte) 0xEC, 0, 0, 0, 0};
                List<Executable> calls = List.of(
                        () -> writer.write(1, Outputs.bytes("x")), () -> writer.broadcast(Outputs.bytes("x")),
                        () -> writer.multicast(new int[] {1}, Outputs.bytes("x")), writer::flush, writer::region,
                        () -> writer.dictionary(dictionary), () -> writer.property("k", "v"), writer::finish);
                for (Executable call : calls) {
                    expect(ErrorCode.INVALID_ARGUMENT, call);
                }
                if (follow) {
                    expect(ErrorCode.UNFINISHED, () -> Outputs.open(name, layout));
                }
                writer.close();
                expect(ErrorCode.INVALID_ARGUMENT, writer::finish);
                assertEquals(List.of(), Outputs.names(folder));
            }
        }
    }

    @Test
    void durableOutputsAndEmptyOnes() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("durable" + layout);
            Outputs.small(name, new WriterOptions(3).layout(layout).durability(Durability.COMMIT));
            assertTrue(Outputs.readAll(name, layout) > 0);
            Path empty = folder.resolve("empty" + layout);
            try (Writer writer = Writer.create(empty, new WriterOptions(3).layout(layout))) {
                writer.finish();
            }
            assertEquals(0, Outputs.check(empty, layout).regions());
        }
    }

    @Test
    void theDefaultFileIdIsANewRandomUuid() throws Exception {
        Path name = folder.resolve("drawn");
        Set<UUID> drawn = new HashSet<>();
        for (int i = 0; i < 64; i++) {
            try (Writer writer = Writer.create(name, new WriterOptions(1).overwrite(true))) {
                writer.finish();
            }
            try (Reader reader = Outputs.open(name, Layout.PAIRED)) {
                drawn.add(reader.header().fileId());
            }
        }
        assertEquals(64, drawn.size());
        long[] ones = {-1, -1};
        long[] zeros = {-1, -1};
        for (UUID id : drawn) {
            assertEquals(4, id.version());
            assertEquals(2, id.variant());
            ones[0] &= id.getMostSignificantBits();
            zeros[0] &= ~id.getMostSignificantBits();
            ones[1] &= id.getLeastSignificantBits();
            zeros[1] &= ~id.getLeastSignificantBits();
        }
        // All other bits are random, so each is sometimes 0 and sometimes 1.
        assertArrayEquals(new long[] {0x4000, 1L << 63}, ones);
        assertArrayEquals(new long[] {0xB000, 1L << 62}, zeros);
    }
}
