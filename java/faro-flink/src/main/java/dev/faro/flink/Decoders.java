package dev.faro.flink;

import dev.faro.Limits;
import dev.faro.codec.Codec;
import dev.faro.codec.DecodeException;
import dev.faro.codec.Decoder;
import dev.faro.reader.BlockCursor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Decompresses for many consumers, with one decoder for each thread that is decompressing. */
final class Decoders {
    private final ConcurrentLinkedQueue<Decoder> free = new ConcurrentLinkedQueue<>();

    /**
     * Decompresses a block, or copies one that is not compressed.
     *
     * @param target receives the plain bytes
     * @throws IOException a {@link dev.faro.FaroException} that says what is wrong with the block
     */
    void decode(BlockCursor block, ByteBuffer target) throws IOException {
        if (block.codec() == Codec.NONE) {
            target.put(block.storedPayload());
            return;
        }
        try {
            decode(block.codec(), block.storedPayload(), block.plainSize(), target);
        } catch (DecodeException e) {
            // This call reports the offset and what was expected.
            target.put(block.payload());
        }
    }

    /**
     * Decompresses a payload.
     *
     * @param codec LZ4, or Zstandard without its magic number
     * @param stored a direct little-endian buffer, read from 0 to its limit
     * @param plainSize the size of the result in bytes
     * @param target receives the result
     */
    void decode(Codec codec, ByteBuffer stored, int plainSize, ByteBuffer target) throws DecodeException {
        Decoder decoder = free.poll();
        if (decoder == null) {
            decoder = new Decoder();
        }
        try {
            target.put(decoder.decode(codec, stored, plainSize, Limits.DEFAULT.maxWindowSize(), null));
        } finally {
            free.add(decoder);
        }
    }
}
