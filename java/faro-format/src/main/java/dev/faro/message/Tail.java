package dev.faro.message;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.file.Checksum;
import dev.faro.file.InputFile;
import dev.faro.header.FileHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The 24 bytes at the end of a finished file (TAIL-1).
 *
 * @param footerOffset where the footer block begins, an unsigned value that is not checked yet
 * @param footerSize stored size of the footer block
 */
public record Tail(long footerOffset, long footerSize) {
    /** Bytes of a tail. */
    public static final int SIZE = 24;

    private static final long MAGIC = ~FileHeader.MAGIC;

    /**
     * Reads the tail at the end of a file: checks 1 and 2 of OPN-2.
     *
     * @throws FaroException {@code unfinished}, {@code checksum} or {@code io}
     */
    public static Tail readAtEnd(InputFile file, long size) throws FaroException {
        ErrorCode code = ErrorCode.UNFINISHED;
        if (size < FileHeader.SIZE + SIZE) {
            throw file.fault(code, size, "a tail", "the end of the file");
        }
        ByteBuffer bytes = bytes(file, size - SIZE);
        if (bytes.getLong(16) != MAGIC) {
            throw file.fault(code, size, "a tail", "other bytes");
        }
        return parse(file, size - SIZE, bytes);
    }

    /**
     * Reads the 24 bytes behind a footer, which must be a tail (FOL-5).
     *
     * @throws FaroException {@code checksum} or {@code io}
     */
    public static Tail readAt(InputFile file, long offset) throws FaroException {
        ByteBuffer bytes = bytes(file, offset);
        if (bytes.getLong(16) != MAGIC) {
            throw checksumFault(file, offset, bytes);
        }
        return parse(file, offset, bytes);
    }

    private static ByteBuffer bytes(InputFile file, long offset) throws FaroException {
        ByteBuffer bytes = ByteBuffer.allocate(SIZE).order(ByteOrder.LITTLE_ENDIAN);
        file.readFully(bytes, offset);
        return bytes.clear();
    }

    private static Tail parse(InputFile file, long offset, ByteBuffer bytes) throws FaroException {
        if (checksum(bytes) != bytes.getInt(12)) {
            throw checksumFault(file, offset, bytes);
        }
        return new Tail(bytes.getLong(0), bytes.getInt(8) & 0xFFFFFFFFL);
    }

    private static FaroException checksumFault(InputFile file, long offset, ByteBuffer bytes) {
        return file.fault(ErrorCode.CHECKSUM, offset, Checksum.stored(bytes.getInt(12)),
                Checksum.computed(checksum(bytes)));
    }

    /** Writes the tail into a little-endian buffer. */
    public void encode(ByteBuffer target, int at) {
        ByteBuffer bytes = target.slice(at, SIZE).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(0, footerOffset).putInt(8, (int) footerSize).putLong(16, MAGIC);
        bytes.putInt(12, checksum(bytes));
    }

    private static int checksum(ByteBuffer bytes) {
        return new Checksum().add(bytes, 0, 12).add(bytes, 16, 8).value();
    }
}
