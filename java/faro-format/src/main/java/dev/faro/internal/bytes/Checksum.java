package dev.faro.internal.bytes;

import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.CRC32C;

/** CRC-32C (INT-6) over parts of a buffer. One per owner; not for several threads at once. */
public final class Checksum {
    private final CRC32C crc = new CRC32C();
    private final byte[] begin;

    /** Of the bytes that are taken in alone: headers and tails. */
    public Checksum() {
        begin = new byte[0];
    }

    /** Of a file's blocks: each begins with the 16 bytes of the file_id (BLK-9). */
    public Checksum(UUID fileId) {
        begin = ByteBuffer.allocate(16)
                .putLong(fileId.getMostSignificantBits())
                .putLong(fileId.getLeastSignificantBits())
                .array();
        reset();
    }

    /** Begins anew. */
    public Checksum reset() {
        crc.reset();
        crc.update(begin, 0, begin.length);
        return this;
    }

    /** Takes in {@code length} bytes of the buffer from index {@code at}; position and limit are left as they were. */
    public Checksum add(ByteBuffer buffer, int at, int length) {
        int position = buffer.position();
        int limit = buffer.limit();
        buffer.limit(at + length).position(at);
        crc.update(buffer);
        buffer.limit(limit).position(position);
        return this;
    }

    /** What an error says of a checksum that a file states (ERR-4). */
    public static String stored(int checksum) {
        return String.format("stored %08x", checksum);
    }

    /** What an error says of a checksum that was computed (ERR-4). */
    public static String computed(int checksum) {
        return String.format("computed %08x", checksum);
    }

    /** The checksum of what was taken in, as the 32 bits that a file holds. */
    public int value() {
        return (int) crc.getValue();
    }
}
