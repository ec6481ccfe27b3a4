package dev.faro.internal.block;

import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * The checksum of a file's blocks (BLK-9): file_id, header bytes 0 to 19, stored payload. One per owner; not for several
 * threads at once.
 *
 * <p>A {@link CRC32C} cannot be told where to begin, and each call of it costs nanoseconds that a block of a kilobyte
 * feels. So the state behind the file_id (always the same) and 16 bytes of the header is looked up, by sixteen tables at
 * once; four bytes bring a fresh CRC32C into any state that is wanted; and the payload is one call.
 */
final class BlockChecksum {
    /** The polynomial, its bits reversed. */
    private static final int POLYNOMIAL = 0x82F63B78;
    private static final int LOOKED_UP = 16;
    /** At [256 n + b]: what byte b does to the state when n more bytes follow it. */
    private static final int[] TABLES = tables();

    private final CRC32C crc = new CRC32C();
    /** The complement of what the file_id does to the state behind 16 bytes of a header. */
    private final int begin;

    BlockChecksum(UUID fileId) {
        ByteBuffer id = ByteBuffer.allocate(LOOKED_UP);
        id.putLong(fileId.getMostSignificantBits()).putLong(fileId.getLeastSignificantBits());
        int state = -1;
        for (byte b : id.array()) {
            state = state >>> 8 ^ TABLES[(state ^ b) & 0xFF];
        }
        // As if the header were zero: what its bytes do is added, since all of this is linear.
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

    /** The eight bytes of a header, the last of them followed by {@code behind} more. */
    private static int lookUp(long bytes, int behind) {
        int at = behind << 8;
        return TABLES[at + 1792 + (int) (bytes & 0xFF)]
                ^ TABLES[at + 1536 + (int) (bytes >>> 8 & 0xFF)]
                ^ TABLES[at + 1280 + (int) (bytes >>> 16 & 0xFF)]
                ^ TABLES[at + 1024 + (int) (bytes >>> 24 & 0xFF)]
                ^ TABLES[at + 768 + (int) (bytes >>> 32 & 0xFF)]
                ^ TABLES[at + 512 + (int) (bytes >>> 40 & 0xFF)]
                ^ TABLES[at + 256 + (int) (bytes >>> 48 & 0xFF)]
                ^ TABLES[at + (int) (bytes >>> 56)];
    }

    /**
     * The checksum of the block at {@code at} in a little-endian buffer, which is cleared.
     *
     * @param stored bytes of its payload
     */
    int of(ByteBuffer bytes, int at, int stored) {
        int four = begin ^ lookUp(bytes.getLong(at), 8) ^ lookUp(bytes.getLong(at + 8), 0) ^ bytes.getInt(at + 16);
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
