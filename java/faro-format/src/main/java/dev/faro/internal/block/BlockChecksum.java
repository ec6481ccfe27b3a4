package dev.faro.internal.block;

import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * The checksum of a file's blocks (BLK-9): over the file_id, header bytes 0 to 19, and the stored payload. Not safe for
 * use by several threads at once.
 *
 * <p>A {@link CRC32C} cannot be given a state to begin with, and each call of it costs nanoseconds that matter for a
 * block of a kilobyte. So the state after the file_id, which never changes, and 16 bytes of the header is looked up in
 * sixteen tables at once. Four bytes then bring a fresh CRC32C into that state, and the payload takes one call.
 */
final class BlockChecksum {
    /** The polynomial with its bits reversed. */
    private static final int POLYNOMIAL = 0x82F63B78;
    private static final int LOOKED_UP = 16;
    /** At [256 n + b]: what byte b does to the state when n more bytes follow it. */
    private static final int[] TABLES = tables();

    private final CRC32C crc = new CRC32C();
    /** The complement of what the file_id does to the state after 16 bytes of a header. */
    private final int begin;

    BlockChecksum(UUID fileId) {
        ByteBuffer id = ByteBuffer.allocate(LOOKED_UP);
        id.putLong(fileId.getMostSignificantBits()).putLong(fileId.getLeastSignificantBits());
        int state = -1;
        for (byte b : id.array()) {
            state = state >>> 8 ^ TABLES[(state ^ b) & 0xFF];
        }
        // Computed for a header of zeros. The effect of the real bytes is added later, because a CRC is linear.
        for (int i = 0; i < LOOKED_UP; i++) {
            state = state >>> 8 ^ TABLES[state & 0xFF];
        }
        begin = ~state;
    }

    private static int[] tables() {
        int[] tables = new int[256 * LOOKED_UP];
        for (int b = 0; b < 256; b++) {
            int state = b;
            for (int bit = 0; bit < 8; bit++) {
                state = state >>> 1 ^ ((state & 1) == 0 ? 0 : POLYNOMIAL);
            }
            tables[b] = state;
        }
        for (int i = 256; i < tables.length; i++) {
            int state = tables[i - 256];
            tables[i] = state >>> 8 ^ tables[state & 0xFF];
        }
        return tables;
    }

    /** The effect of eight bytes of a header that {@code following} more bytes follow. */
    private static int lookUp(long bytes, int following) {
        int at = following << 8;
        return TABLES[at + 1792 + (int) (bytes & 0xFF)]
                ^ TABLES[at + 1536 + (int) (bytes >>> 8 & 0xFF)]
                ^ TABLES[at + 1280 + (int) (bytes >>> 16 & 0xFF)]
                ^ TABLES[at + 1024 + (int) (bytes >>> 24 & 0xFF)]
                ^ TABLES[at + 768 + (int) (bytes >>> 32 & 0xFF)]
                ^ TABLES[at + 512 + (int) (bytes >>> 40 & 0xFF)]
                ^ TABLES[at + 256 + (int) (bytes >>> 48 & 0xFF)]
                ^ TABLES[at + (int) (bytes >>> 56)];
    }

    /** The four bytes that bring a fresh CRC32C into the state before the payload of the block at {@code at}. */
    private int four(ByteBuffer bytes, int at) {
        return begin ^ lookUp(bytes.getLong(at), 8) ^ lookUp(bytes.getLong(at + 8), 0) ^ bytes.getInt(at + 16);
    }

    /**
     * The checksum of a block in this file, from its checksum in another file with another header. Both headers are in
     * little-endian buffers; the payload is the same and is not read.
     */
    int moved(BlockChecksum other, ByteBuffer from, int fromAt, ByteBuffer to, int toAt, int checksum, int stored) {
        // A CRC is linear: what differs in the four bytes moves over them and over the payload.
        return checksum ^ ChecksumShift.over(other.four(from, fromAt) ^ four(to, toAt), stored + 4L);
    }

    /**
     * The checksum of the block at {@code at} in a little-endian buffer. Resets the buffer's position and limit.
     *
     * @param stored the size of the stored payload in bytes
     */
    int of(ByteBuffer bytes, int at, int stored) {
        int four = four(bytes, at);
        crc.reset();
        crc.update(four);
        crc.update(four >>> 8);
        crc.update(four >>> 16);
        crc.update(four >>> 24);
        crc.update(bytes.limit(at + BlockHeader.SIZE + stored).position(at + BlockHeader.SIZE));
        bytes.clear();
        return (int) crc.getValue();
    }
}
