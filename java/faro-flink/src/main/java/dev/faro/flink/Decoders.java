package dev.faro.flink;

import dev.faro.Limits;
import dev.faro.codec.Decoder;
import dev.faro.reader.BlockCursor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Decompresses blocks for many consumers, with as many decoders as threads decompress at once. */
final class Decoders {
    private final ConcurrentLinkedQueue<Decoder> free = new ConcurrentLinkedQueue<>();

    /**
     * Decompresses a block, or copies one that is not compressed.
     *
     * @param target takes the plain bytes
     * @throws IOException a {@link dev.faro.FaroException} that says what is wrong with the block
     */
    void decode(BlockCursor block, ByteBuffer target) throws IOException {
        if (block.codec() == Decoder.NONE) {
            target.put(block.storedPayload());
            return;
        }
        Decoder decoder = free.poll();
        if (decoder == null) {
            decoder = new Decoder();
        }
        try {
            target.put(decoder.decode(block.codec(), block.storedPayload(), block.plainSize(),
                    Limits.DEFAULT.maxWindowSize(), null));
        } catch (Decoder.Refusal e) {
            // Says where it is, and what was expected.
            target.put(block.payload());
        } finally {
            free.add(decoder);
        }
    }
}
