package dev.faro.codec;

import java.nio.ByteBuffer;

/** Checks the structure of a Zstandard frame before it is decoded (COD-4). All implementations make the same checks. */
final class ZstdFrame {
    private static final int MAX_BLOCK = 128 << 10;

    private ZstdFrame() {}

    /**
     * Checks a frame.
     *
     * @param frame little-endian, read from 0 to its limit
     */
    static void check(ByteBuffer frame, int plainSize, long maxWindow) throws DecodeException {
        int end = frame.limit();
        require(end >= 1, "a payload without a frame header");
        int descriptor = frame.get(0) & 0xFF;
        require((descriptor & 0x1F) == 0, "a descriptor with reserved bits, a checksum or a dictionary ID");
        boolean singleSegment = (descriptor & 0x20) != 0;
        int sizeField = switch (descriptor >> 6) {
            case 0 -> singleSegment ? 1 : 0;
            case 1 -> 2;
            case 2 -> 4;
            default -> 8;
        };
        int at = 1;
        long window = plainSize;
        if (!singleSegment) {
            require(end >= 2, "a frame without a window descriptor");
            int exponent = (frame.get(1) & 0xFF) >> 3;
            int mantissa = frame.get(1) & 7;
            window = (1L << (10 + exponent)) + ((long) mantissa << (7 + exponent));
            at = 2;
        }
        require(end - at >= sizeField, "a frame that ends in its header");
        if (sizeField > 0) {
            require(contentSize(frame, at, sizeField) == plainSize, "another content size");
        }
        if (window > maxWindow) {
            throw new DecodeException(true, "a window of " + window + " bytes, with at most " + maxWindow + " allowed");
        }
        checkBlocks(frame, at + sizeField, (int) Math.min(window, MAX_BLOCK));
    }

    private static long contentSize(ByteBuffer frame, int at, int sizeField) {
        return switch (sizeField) {
            case 1 -> frame.get(at) & 0xFF;
            case 2 -> (frame.getShort(at) & 0xFFFF) + 256;
            case 4 -> frame.getInt(at) & 0xFFFFFFFFL;
            default -> frame.getLong(at);
        };
    }

    private static void checkBlocks(ByteBuffer frame, int from, int maxSize) throws DecodeException {
        int end = frame.limit();
        int at = from;
        boolean last = false;
        while (!last) {
            require(end - at >= 3, "a frame that ends before its last block");
            int header = frame.getShort(at) & 0xFFFF | (frame.get(at + 2) & 0xFF) << 16;
            last = (header & 1) != 0;
            int type = header >> 1 & 3;
            int size = header >> 3;
            require(type != 3, "a block of the reserved type");
            require(size <= maxSize, "a block of " + size + " bytes");
            int content = type == 1 ? 1 : size;
            require(end - at - 3 >= content, "a block that reaches past the frame");
            at += 3 + content;
        }
        require(at == end, (end - at) + " bytes after the frame");
    }

    private static void require(boolean holds, String found) throws DecodeException {
        if (!holds) {
            throw new DecodeException(false, found);
        }
    }
}
