package dev.faro.fuzz;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;

/** Makes the checksums of a file right, whatever its bytes are (TARGETS.md, "Seal"). */
final class Seal {
    static final int HEADER = 64;
    static final int BLOCK = 24;
    static final int TAIL = 24;
    private static final long TAIL_MAGIC = 0xE5F5F2B0ADBEB976L;
    private static final int FILE_ID = 40;
    private static final int KIND = 16;
    private static final int END_BLOCK = 132;

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
        for (long size = size(bytes, at, end); size >= 0; size = size(bytes, at, end)) {
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

    /** Makes the checksums of a stream of fragments right. */
    static void sealStream(byte[] stream) {
        byte[] rest = stream;
        while (rest.length >= HEADER) {
            int end = sealFragment(rest);
            System.arraycopy(rest, 0, stream, stream.length - rest.length, end);
            rest = Arrays.copyOfRange(rest, end, rest.length);
        }
    }

    /** Makes the checksums of the first fragment of a stream right, and returns where it ends. */
    private static int sealFragment(byte[] stream) {
        ByteBuffer bytes = ByteBuffer.wrap(stream).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(60, crc(stream, 0, 60));
        long at = HEADER;
        for (long size = size(bytes, at, stream.length); size >= 0; size = size(bytes, at, stream.length)) {
            bytes.putInt((int) at + 20, block(stream, (int) at, (int) size));
            boolean isEnd = (stream[(int) at + KIND] & 0xFF) == END_BLOCK;
            at += BLOCK + pad8(size);
            if (isEnd) {
                return (int) Math.min(at, stream.length);
            }
        }
        return stream.length;
    }

    /** The stored size of the block at {@code at}; -1 if there is no block before {@code end}. */
    private static long size(ByteBuffer bytes, long at, long end) {
        if (at + BLOCK > end) {
            return -1;
        }
        long size = bytes.getInt((int) at) & 0xFFFFFFFFL;
        return at + BLOCK + size > end ? -1 : size;
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
