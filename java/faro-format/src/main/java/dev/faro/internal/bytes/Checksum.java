package dev.faro.internal.bytes;

import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.CRC32C;

/** CRC-32C (INT-6) over parts of a buffer. Not safe for use by several threads at once. */
public final class Checksum {
    private final CRC32C crc = new CRC32C();
    private final byte[] begin;

    /** Makes a checksum that covers only the bytes that are added, as in headers and tails. */
    public Checksum() {
        begin = new byte[0];
    }

    /** Makes a checksum for a file's blocks, which begins with the 16 bytes of the file_id (BLK-9). */
    public Checksum(UUID fileId) {
        begin = ByteBuffer.allocate(16)
                .putLong(fileId.getMostSignificantBits())
                .putLong(fileId.getLeastSignificantBits())
                .array();
        reset();
    }

    /** Starts again. */
    public Checksum reset() {
        crc.reset();
        crc.update(begin, 0, begin.length);
        return this;
    }

    /** Adds {@code length} bytes of the buffer from index {@code at}; keeps the buffer's position and limit. */
    public Checksum add(ByteBuffer buffer, int at, int length) {
        int position = buffer.position();
        int limit = buffer.limit();
        buffer.limit(at + length).position(at);
        crc.update(buffer);
        buffer.limit(limit).position(position);
        return this;
    }

    /** How an error writes a checksum from the file (ERR-4). */
    public static String stored(int checksum) {
        return String.format("stored %08x", checksum);
    }

    /** How an error writes a checksum that was computed (ERR-4). */
    public static String computed(int checksum) {
        return String.format("computed %08x", checksum);
    }

    /** The checksum of the bytes that were added, as the 32 bits in the file. */
    public int value() {
        return (int) crc.getValue();
    }
}
