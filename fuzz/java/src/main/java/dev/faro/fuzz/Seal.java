package dev.faro.fuzz;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** Makes the checksums of a file right, whatever its bytes are (TARGETS.md, "Seal"). */
final class Seal {
    static final int HEADER = 64;
    static final int BLOCK = 24;
    static final int TAIL = 24;
    private static final long TAIL_MAGIC = 0xE5F5F2B0ADBEB976L;
    private static final int FILE_ID = 40;

    private Seal() {}

    static void seal(byte[] file) {
        if (file.length < HEADER) {
            return;
        }
        ByteBuffer bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(60, crc(file, 0, 60));
        boolean tail = file.length >= HEADER + TAIL && bytes.getLong(file.length - 8) == TAIL_MAGIC;
        long end = file.length - (tail ? TAIL : 0);
        long at = HEADER;
        while (at + BLOCK <= end) {
            long size = bytes.getInt((int) at) & 0xFFFFFFFFL;
            if (at + BLOCK + size > end) {
                break;
            }
            bytes.putInt((int) at + 20, block(file, (int) at, (int) size));
            at += BLOCK + pad8(size);
        }
        if (tail) {
            int from = file.length - TAIL;
            CRC32C crc = new CRC32C();
            crc.update(file, from, 12);
            crc.update(file, from + 16, 8);
            bytes.putInt(from + 12, (int) crc.getValue());
        }
    }

    /** The checksum of a block (BLK-9). */
    static int block(byte[] file, int at, int size) {
        CRC32C crc = new CRC32C();
        crc.update(file, FILE_ID, 16);
        crc.update(file, at, 20);
        crc.update(file, at + BLOCK, size);
        return (int) crc.getValue();
    }

    static int crc(byte[] file, int at, int size) {
        CRC32C crc = new CRC32C();
        crc.update(file, at, size);
        return (int) crc.getValue();
    }

    static long pad8(long size) {
        return (size + 7) & ~7L;
    }
}
