package dev.faro.internal.block;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.Limits;
import dev.faro.internal.bytes.Checksum;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.testing.Outputs;
import dev.faro.writer.Layout;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Blocks and headers that violate a rule but have a valid checksum: code and offset by BLK-7 and HDR-1. */
class OrderOfChecksTest {
    private static final int BLOCK = 64;

    @TempDir
    Path folder;

    private Path name;

    @BeforeEach
    void write() throws Exception {
        name = folder.resolve("x");
        Outputs.small(name, new WriterOptions(3));
    }

    private ByteBuffer data() throws Exception {
        return ByteBuffer.wrap(Files.readAllBytes(Outputs.file(name, ".data"))).order(ByteOrder.LITTLE_ENDIAN);
    }

    private FaroException read(ByteBuffer bytes, ReaderOptions options) throws Exception {
        Path data = Outputs.file(name, ".data");
        byte[] before = Files.readAllBytes(data);
        Files.write(data, bytes.array());
        try (Reader reader = Reader.openPair(data, Outputs.file(name, ".index"), options)) {
            return assertThrows(FaroException.class, () -> Outputs.readAll(reader));
        } finally {
            Files.write(data, before);
        }
    }

    private void expect(ErrorCode code, long offset, Consumer<ByteBuffer> change) throws Exception {
        expect(code, offset, ReaderOptions.DEFAULT, change);
    }

    private void expect(ErrorCode code, long offset, ReaderOptions options, Consumer<ByteBuffer> change)
            throws Exception {
        ByteBuffer bytes = data();
        change.accept(bytes);
        int stored = bytes.getInt(BLOCK);
        if (stored >= 0 && BLOCK + 24 + stored <= bytes.limit()) {
            Outputs.reseal(bytes, BLOCK);
        }
        FaroException e = read(bytes, options);
        assertEquals(code, e.code(), e.getMessage());
        assertEquals(BLOCK + offset, e.offset(), e.getMessage());
        assertEquals(FileRole.DATA, e.role());
    }

    @Test
    void fieldsOfABlock() throws Exception {
        int stored = data().getInt(BLOCK);
        assertEquals(7, stored);
        expect(ErrorCode.MALFORMED_BLOCK, 0, b -> b.putInt(BLOCK, 9));
        expect(ErrorCode.MALFORMED_BLOCK, 0, b -> b.putInt(BLOCK, -1));
        expect(ErrorCode.MALFORMED_BLOCK, 18, b -> b.putShort(BLOCK + 18, (short) 1).put(BLOCK + 16, (byte) 2));
        expect(ErrorCode.MALFORMED_BLOCK, 16, b -> b.put(BLOCK + 16, (byte) 2).put(BLOCK + 17, (byte) 9));
        expect(ErrorCode.MALFORMED_BLOCK, 16, b -> b.put(BLOCK + 16, (byte) 131));
        expect(ErrorCode.UNSUPPORTED_CODEC, 17, b -> b.put(BLOCK + 17, (byte) 3).put(BLOCK + 4, (byte) 0));
        expect(ErrorCode.MALFORMED_BLOCK, 17, b -> b.put(BLOCK + 17, (byte) 1).put(BLOCK + 16, (byte) 1));
        expect(ErrorCode.MALFORMED_BLOCK, 4, b -> b.putInt(BLOCK + 4, 8).putInt(BLOCK + 8, 77));
        expect(ErrorCode.MALFORMED_BLOCK, 4, b -> b.put(BLOCK + 17, (byte) 1));
        expect(ErrorCode.LIMIT_EXCEEDED, 4, b -> b.put(BLOCK + 17, (byte) 1).putInt(BLOCK + 4, -1));
        expect(ErrorCode.INCONSISTENT_INDEX, 8, b -> b.putInt(BLOCK + 8, 1).putInt(BLOCK + 12, 5));
        expect(ErrorCode.INCONSISTENT_INDEX, 12, b -> b.putInt(BLOCK + 12, 5).put(BLOCK + 31, (byte) 1));
        expect(ErrorCode.MALFORMED_BLOCK, 31, b -> b.put(BLOCK + 31, (byte) 1));
        expect(ErrorCode.MALFORMED_BLOCK, 24, b -> b.put(BLOCK + 17, (byte) 1).putInt(BLOCK + 4, 100));
        expect(ErrorCode.MALFORMED_BLOCK, 24, b -> b.put(BLOCK + 17, (byte) 2).putInt(BLOCK + 4, 100));
        expect(ErrorCode.MALFORMED_BLOCK, 24, b -> b.putInt(BLOCK + 24, 9));
    }

    @Test
    void limits() throws Exception {
        ReaderOptions small = ReaderOptions.DEFAULT.withLimits(Limits.DEFAULT.withMaxBlockSize(6).withMaxPlainSize(6)
                .withMaxMessageSize(1 << 20).withMaxRegions(9).withMaxWindowSize(1 << 20));
        expect(ErrorCode.LIMIT_EXCEEDED, 0, small, b -> { });
        ReaderOptions plain = ReaderOptions.DEFAULT.withLimits(Limits.DEFAULT.withMaxBlockSize(7).withMaxPlainSize(6)
                .withMaxMessageSize(1 << 20).withMaxRegions(9).withMaxWindowSize(1 << 20));
        expect(ErrorCode.LIMIT_EXCEEDED, 4, plain, b -> { });
    }

    @Test
    void checksumsNeedNotBeVerified() throws Exception {
        ByteBuffer bytes = data();
        bytes.put(BLOCK + 28, (byte) 'O');
        assertEquals(ErrorCode.CHECKSUM, read(bytes, ReaderOptions.DEFAULT).code());
        Files.write(Outputs.file(name, ".data"), bytes.array());
        try (Reader reader = Reader.openPair(Outputs.file(name, ".data"), Outputs.file(name, ".index"),
                ReaderOptions.DEFAULT.withVerify(false))) {
            assertEquals(8, Outputs.readAll(reader));
        }
        assertThrows(FaroException.class, () -> Outputs.check(name, Layout.PAIRED));
    }

    @Test
    void fieldsOfTheHeader() throws Exception {
        header(ErrorCode.UNSUPPORTED_VERSION, 9, b -> b.put(9, (byte) 2).putInt(16, 4));
        header(ErrorCode.UNSUPPORTED_FEATURE, 16, b -> b.putInt(16, 4).put(8, (byte) 4));
        header(ErrorCode.UNSUPPORTED_FEATURE, 8, b -> b.put(8, (byte) 4));
        header(ErrorCode.MALFORMED_HEADER, 8, b -> b.put(8, (byte) 6).put(11, (byte) 3));
        header(ErrorCode.MALFORMED_HEADER, 11, b -> b.put(11, (byte) 3).putInt(12, 0));
        header(ErrorCode.MALFORMED_HEADER, 12, b -> b.putInt(12, 0));
        header(ErrorCode.MALFORMED_HEADER, 12, b -> b.putInt(12, -1));
        header(ErrorCode.MALFORMED_HEADER, 56, b -> b.putInt(56, -1));
        header(ErrorCode.MISMATCHED_PAIR, 8, b -> b.put(8, (byte) 3));
        header(ErrorCode.MISMATCHED_PAIR, 8, b -> b.put(8, (byte) 5));
        header(ErrorCode.MISMATCHED_PAIR, 40, b -> b.putInt(40, 1).putInt(12, 4));
        header(ErrorCode.MISMATCHED_PAIR, 12, b -> b.putInt(12, 4).put(10, (byte) 1));
        header(ErrorCode.MISMATCHED_PAIR, 10, b -> b.put(10, (byte) 1));
    }

    private void header(ErrorCode code, long offset, Consumer<ByteBuffer> change) throws Exception {
        ByteBuffer bytes = data();
        change.accept(bytes);
        bytes.putInt(60, new Checksum().add(bytes, 0, 60).value());
        Files.write(folder.resolve("other"), bytes.array());
        FaroException e = assertThrows(FaroException.class, () -> Reader.openPair(
                folder.resolve("other"), Outputs.file(name, ".index"), ReaderOptions.DEFAULT));
        assertEquals(code, e.code(), e.getMessage());
        assertEquals(offset, e.offset(), e.getMessage());
        assertEquals(FileRole.DATA, e.role());
    }
}
