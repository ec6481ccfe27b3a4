package dev.faro.flink;

import dev.faro.codec.Codec;
import dev.faro.codec.DecodeException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import org.apache.flink.runtime.io.compression.BlockDecompressor;
import org.apache.flink.runtime.io.network.buffer.BufferDecompressor;
import org.apache.flink.runtime.io.network.partition.consumer.SingleInputGate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decompresses the data that an input gate receives over the network. It uses the C code of the format's library;
 * Flink's decompressors are in Java. Data that is not as Faro's partitions make it goes to Flink's decompressor, which
 * reports what is wrong.
 */
final class GateDecompressor implements BlockDecompressor {
    private static final Logger LOG = LoggerFactory.getLogger(GateDecompressor.class);
    // Flink has no other way to give a gate a decompressor.
    private static final Field OF_GATE = field(SingleInputGate.class, "bufferDecompressor", BufferDecompressor.class);
    private static final Field OF_BUFFERS =
            field(BufferDecompressor.class, "blockDecompressor", BlockDecompressor.class);

    private final Decoders decoders;
    private final Codec codec;
    private final BlockDecompressor flinkDecompressor;

    /**
     * Makes a decompressor that shares its decoders with others.
     *
     * @param codec LZ4 or Zstandard
     * @param flinkDecompressor Flink's decompressor
     */
    GateDecompressor(Decoders decoders, Codec codec, BlockDecompressor flinkDecompressor) {
        this.decoders = decoders;
        this.codec = codec;
        this.flinkDecompressor = flinkDecompressor;
    }

    private static Field field(Class<?> in, String name, Class<?> type) {
        try {
            Field field = in.getDeclaredField(name);
            if (field.getType() == type && !Modifier.isStatic(field.getModifiers())) {
                field.setAccessible(true);
                return field;
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            // Reported below.
        }
        LOG.warn("Data from the network is decompressed by Flink: its {} has no field {} that can be set.",
                in.getSimpleName(), name);
        return null;
    }

    /**
     * Gives a gate such a decompressor. A gate that has none stays as it is, and so does one of a Flink with other
     * fields.
     */
    static void install(SingleInputGate gate, Decoders decoders, Codec codec) {
        BlockDecompressor flinkDecompressor = of(gate);
        if (flinkDecompressor != null) {
            try {
                OF_BUFFERS.set(OF_GATE.get(gate), new GateDecompressor(decoders, codec, flinkDecompressor));
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** The decompressor of a gate; null if it has none, or it cannot be determined. */
    static BlockDecompressor of(SingleInputGate gate) {
        try {
            Object buffers = OF_GATE == null || OF_BUFFERS == null ? null : OF_GATE.get(gate);
            return buffers == null ? null : (BlockDecompressor) OF_BUFFERS.get(buffers);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public int decompress(ByteBuffer source, int sourceOffset, int sourceLength, ByteBuffer target, int targetOffset) {
        int begin = source.position() + sourceOffset;
        int to = target.position() + targetOffset;
        FlinkCompression.Frame frame = FlinkCompression.unframe(source, begin, codec);
        if (frame != null && frame.plainSize() <= target.capacity() - to) {
            try {
                decoders.decode(codec, frame.stored(), frame.plainSize(), target.duplicate().clear().position(to));
                source.position(begin + frame.size());
                target.position(to + frame.plainSize());
                return frame.plainSize();
            } catch (DecodeException e) {
                // Flink's decompressor reports the fault, if it finds it too.
            }
        }
        return flinkDecompressor.decompress(source, sourceOffset, sourceLength, target, targetOffset);
    }

    /** Decompresses buffers on the heap, which do not come from the network. */
    @Override
    public int decompress(byte[] source, int sourceOffset, int sourceLength, byte[] target, int targetOffset) {
        return flinkDecompressor.decompress(source, sourceOffset, sourceLength, target, targetOffset);
    }
}
