package dev.faro.internal.bytes;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
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

    // Where the fields begin (TAIL-1).
    private static final int FOOTER_OFFSET = 0;
    private static final int FOOTER_SIZE = 8;
    private static final int CHECKSUM = 12;
    private static final int MAGIC = 16;

    /**
     * Whether bytes end with the magic of a tail.
     *
     * @param bytes 24 of them, little-endian
     */
    public static boolean hasMagic(ByteBuffer bytes) {
        return bytes.getLong(MAGIC) == HeaderBytes.TAIL_MAGIC;
    }

    /**
     * Checks and parses a tail (TAIL-1).
     *
     * @param bytes 24 of them, little-endian, from 0 to the limit
     * @param offset where they begin in the file
     * @throws FaroException {@code checksum} if they are damaged, the magic included
     */
    public static Tail parse(ByteBuffer bytes, long offset, Faults faults) throws FaroException {
        int stored = bytes.getInt(CHECKSUM);
        int computed = checksum(bytes);
        if (!hasMagic(bytes) || stored != computed) {
            throw faults.fault(ErrorCode.CHECKSUM, offset, Checksum.stored(stored), Checksum.computed(computed));
        }
        return new Tail(bytes.getLong(FOOTER_OFFSET), bytes.getInt(FOOTER_SIZE) & 0xFFFFFFFFL);
    }

    /** Writes the tail into a little-endian buffer. */
    public void encode(ByteBuffer target, int at) {
        ByteBuffer bytes = target.slice(at, SIZE).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(FOOTER_OFFSET, footerOffset).putInt(FOOTER_SIZE, (int) footerSize);
        bytes.putLong(MAGIC, HeaderBytes.TAIL_MAGIC).putInt(CHECKSUM, checksum(bytes));
    }

    private static int checksum(ByteBuffer bytes) {
        return new Checksum().add(bytes, 0, CHECKSUM).add(bytes, MAGIC, 8).value();
    }
}
