package dev.faro.internal.bytes;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The 24 bytes at the end of a finished file (TAIL-1).
 *
 * @param footerOffset the offset of the footer block, an unsigned value that is not checked yet
 * @param footerSize the stored size of the footer block in bytes
 */
public record Tail(long footerOffset, long footerSize) {
    /** The size of a tail in bytes. */
    public static final int SIZE = 24;

    // The offsets of the fields (TAIL-1).
    private static final int FOOTER_OFFSET = 0;
    private static final int FOOTER_SIZE = 8;
    private static final int CHECKSUM = 12;
    private static final int MAGIC = 16;

    /**
     * Whether the bytes end with the magic of a tail.
     *
     * @param bytes 24 bytes, little-endian
     */
    public static boolean hasMagic(ByteBuffer bytes) {
        return bytes.getLong(MAGIC) == HeaderBytes.TAIL_MAGIC;
    }

    /**
     * Checks and parses a tail (TAIL-1).
     *
     * @param bytes 24 bytes, little-endian, from 0 to the limit
     * @param offset the offset of the bytes in the file
     * @throws FaroException {@code checksum} if any byte is damaged, the magic included
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
