package dev.faro.flink;

import dev.faro.codec.Codec;
import dev.faro.reader.BlockCursor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Puts compressed blocks into the frame of Flink's own compressors: both sizes, little-endian, and then the codec's
 * bytes. Consumers decompress them as they do with Flink's own shuffle, and fewer bytes go over the network.
 */
final class FlinkCompression {
    private static final int SIZES = 2 * Integer.BYTES;
    /** The beginning of a Zstandard frame, which blocks do not store. */
    private static final int ZSTD_MAGIC = 0xFD2FB528;

    private FlinkCompression() {}

    /** Whether Flink can decompress a block, and its frame is smaller than the plain bytes, which fit into a buffer. */
    static boolean canFrame(BlockCursor block) {
        return block.codec() != Codec.NONE && block.dictionary() == 0
                && framedSize(block) < block.plainSize();
    }

    /** The size of a block in Flink's frame, in bytes. */
    static int framedSize(BlockCursor block) {
        return SIZES + codecSize(block);
    }

    private static int codecSize(BlockCursor block) {
        int magic = block.codec() == Codec.ZSTD ? Integer.BYTES : 0;
        return magic + block.storedPayload().remaining();
    }

    /** Writes a block in Flink's frame. */
    static void frame(BlockCursor block, ByteBuffer target) {
        target.order(ByteOrder.LITTLE_ENDIAN).putInt(codecSize(block)).putInt(block.plainSize());
        if (block.codec() == Codec.ZSTD) {
            target.putInt(ZSTD_MAGIC);
        }
        target.put(block.storedPayload());
    }

    /**
     * The contents of a frame.
     *
     * @param size the size of the frame in bytes
     * @param plainSize the size of the plain payload in bytes, as the frame states it
     * @param stored the payload as a block stores it, little-endian, from 0 to its limit
     */
    record Frame(int size, int plainSize, ByteBuffer stored) {}

    /**
     * Parses the frame at an index of a buffer. Returns null if there is no complete frame of the codec, or the buffer
     * is not direct.
     */
    static Frame unframe(ByteBuffer source, int begin, Codec codec) {
        int left = source.limit() - begin - SIZES;
        if (!source.isDirect() || left < 0) {
            return null;
        }
        ByteBuffer bytes = source.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        int size = bytes.getInt(begin);
        int plainSize = bytes.getInt(begin + Integer.BYTES);
        int magic = codec == Codec.ZSTD ? Integer.BYTES : 0;
        if (size <= magic || size > left || plainSize < 0
                || magic > 0 && bytes.getInt(begin + SIZES) != ZSTD_MAGIC) {
            return null;
        }
        ByteBuffer stored = bytes.slice(begin + SIZES + magic, size - magic).order(ByteOrder.LITTLE_ENDIAN);
        return new Frame(SIZES + size, plainSize, stored);
    }
}
