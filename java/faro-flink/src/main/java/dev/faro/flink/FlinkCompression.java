package dev.faro.flink;

import dev.faro.codec.Decoder;
import dev.faro.reader.BlockCursor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Compressed blocks in the frame of Flink's own compressors: sizes, both little-endian, then the codec's bytes. Consumers
 * decompress them as they do those of Flink's shuffle, so that fewer bytes go over the network.
 */
final class FlinkCompression {
    private static final int SIZES = 2 * Integer.BYTES;
    /** What begins a Zstandard frame, and is not stored. */
    private static final int ZSTD_MAGIC = 0xFD2FB528;

    private FlinkCompression() {}

    /** Whether Flink can decompress a block, and its frame is smaller than the plain bytes: those fit into a buffer. */
    static boolean canFrame(BlockCursor block) {
        return block.codec() != Decoder.NONE && block.dictionary() == 0
                && framedSize(block) < block.plainSize();
    }

    /** Bytes of a block in Flink's frame. */
    static int framedSize(BlockCursor block) {
        return SIZES + codecSize(block);
    }

    private static int codecSize(BlockCursor block) {
        int magic = block.codec() == Decoder.ZSTD ? Integer.BYTES : 0;
        return magic + block.storedPayload().remaining();
    }

    /** Puts a block in Flink's frame. */
    static void frame(BlockCursor block, ByteBuffer target) {
        target.order(ByteOrder.LITTLE_ENDIAN).putInt(codecSize(block)).putInt(block.plainSize());
        if (block.codec() == Decoder.ZSTD) {
            target.putInt(ZSTD_MAGIC);
        }
        target.put(block.storedPayload());
    }

    /**
     * What a frame holds.
     *
     * @param size bytes of the frame
     * @param plainSize bytes that the payload decompresses to, as the frame says
     * @param stored payload as a block stores it, little-endian, from 0 to its limit
     */
    record Frame(int size, int plainSize, ByteBuffer stored) {}

    /** The frame that begins somewhere in a buffer; null if no whole one of the codec does, or the buffer is not direct. */
    static Frame unframe(ByteBuffer source, int begin, int codec) {
        int left = source.limit() - begin - SIZES;
        if (!source.isDirect() || left < 0) {
            return null;
        }
        ByteBuffer bytes = source.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        int size = bytes.getInt(begin);
        int plainSize = bytes.getInt(begin + Integer.BYTES);
        int magic = codec == Decoder.ZSTD ? Integer.BYTES : 0;
        if (size <= magic || size > left || plainSize < 0
                || magic > 0 && bytes.getInt(begin + SIZES) != ZSTD_MAGIC) {
            return null;
        }
        ByteBuffer stored = bytes.slice(begin + SIZES + magic, size - magic).order(ByteOrder.LITTLE_ENDIAN);
        return new Frame(SIZES + size, plainSize, stored);
    }
}
