package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.faro.FaroException;
import dev.faro.codec.Codec;
import dev.faro.codec.Encoder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.flink.configuration.NettyShuffleEnvironmentOptions.CompressionCodec;
import org.apache.flink.runtime.io.compression.BlockCompressionFactory;
import org.apache.flink.runtime.io.compression.BlockDecompressor;
import org.apache.flink.runtime.io.compression.BufferDecompressionException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A gate decompresses as Flink's own decompressor does, and passes unknown data on to that. */
class GateDecompressorTest {
    private static final byte[] PLAIN = "what goes over the network ".repeat(300).getBytes(StandardCharsets.US_ASCII);
    private static final int AHEAD = 5;
    private static final int ZSTD_MAGIC = 0xFD2FB528;

    /** Flink's decompressor, with a count of its calls. */
    private static final class Counting implements BlockDecompressor {
        private final BlockDecompressor flinkDecompressor;
        private int calls;

        Counting(CompressionCodec codec) {
            flinkDecompressor = BlockCompressionFactory.createBlockCompressionFactory(codec).getDecompressor();
        }

        @Override
        public int decompress(ByteBuffer source, int offset, int length, ByteBuffer target, int targetOffset) {
            calls++;
            return flinkDecompressor.decompress(source, offset, length, target, targetOffset);
        }

        @Override
        public int decompress(byte[] source, int offset, int length, byte[] target, int targetOffset) {
            calls++;
            return flinkDecompressor.decompress(source, offset, length, target, targetOffset);
        }
    }

    private static Codec codec(CompressionCodec codec) {
        return codec == CompressionCodec.LZ4 ? Codec.LZ4 : Codec.ZSTD;
    }

    /** The output of Faro's encoder in the frame of Flink's compressors, after some other bytes. */
    private static byte[] frame(CompressionCodec codec) throws FaroException {
        try (Encoder encoder = new Encoder(codec(codec), 1)) {
            ByteBuffer room = ByteBuffer.allocateDirect(2 * PLAIN.length).order(ByteOrder.LITTLE_ENDIAN);
            int begin = AHEAD + 8;
            if (codec == CompressionCodec.ZSTD) {
                room.putInt(begin, ZSTD_MAGIC);
                begin += 4;
            }
            int end = begin + encoder.encode(direct(PLAIN), PLAIN.length, room, begin);
            room.putInt(AHEAD, end - AHEAD - 8).putInt(AHEAD + 4, PLAIN.length);
            byte[] frame = new byte[end];
            room.get(0, frame);
            return frame;
        }
    }

    /** The frame of Flink's compressor, after some other bytes. */
    private static byte[] flinksFrame(CompressionCodec codec) {
        byte[] room = new byte[AHEAD + 2 * PLAIN.length];
        int size = BlockCompressionFactory.createBlockCompressionFactory(codec).getCompressor()
                .compress(PLAIN, 0, PLAIN.length, room, AHEAD);
        return Arrays.copyOf(room, AHEAD + size);
    }

    private static ByteBuffer direct(byte[] bytes) {
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }

    private static byte[] decompressed(BlockDecompressor decompressor, ByteBuffer source) {
        ByteBuffer target = ByteBuffer.allocate(3 + PLAIN.length);
        target.position(1);
        int size = decompressor.decompress(source, AHEAD, source.limit() - AHEAD, target, 2);
        assertEquals(3 + size, target.position());
        return Arrays.copyOfRange(target.array(), 3, 3 + size);
    }

    @ParameterizedTest
    @EnumSource(value = CompressionCodec.class, names = {"LZ4", "ZSTD"})
    void decompressesBuffersOfPartitions(CompressionCodec codec) throws FaroException {
        Counting flinkDecompressor = new Counting(codec);
        BlockDecompressor gates = new GateDecompressor(new Decoders(), codec(codec), flinkDecompressor);
        ByteBuffer source = direct(frame(codec));
        assertArrayEquals(PLAIN, decompressed(gates, source));
        assertEquals(source.limit(), source.position());
        assertArrayEquals(PLAIN, decompressed(gates, direct(frame(codec)).asReadOnlyBuffer()));
        assertEquals(0, flinkDecompressor.calls);

        // Flink's decompressor can do the same, and gets data on the heap.
        assertArrayEquals(PLAIN, decompressed(flinkDecompressor.flinkDecompressor, direct(frame(codec))));
        byte[] target = new byte[PLAIN.length];
        assertEquals(PLAIN.length, gates.decompress(frame(codec), AHEAD, 0, target, 0));
        assertArrayEquals(PLAIN, target);
        assertEquals(1, flinkDecompressor.calls);

        assertArrayEquals(PLAIN, decompressed(gates, direct(flinksFrame(codec))));
    }

    @ParameterizedTest
    @EnumSource(value = CompressionCodec.class, names = {"LZ4", "ZSTD"})
    void passesInvalidDataOn(CompressionCodec codec) throws FaroException {
        Counting flinkDecompressor = new Counting(codec);
        BlockDecompressor gates = new GateDecompressor(new Decoders(), codec(codec), flinkDecompressor);
        byte[] frame = frame(codec);
        int wrong = 0;
        for (int[] lie : new int[][] {{0, -1}, {0, 0}, {0, 3}, {0, frame.length}, {4, -1}, {4, PLAIN.length - 1},
            {4, PLAIN.length + 1}, {4, Integer.MAX_VALUE}, {8, -1}}) {
            ByteBuffer source = direct(frame).order(ByteOrder.LITTLE_ENDIAN);
            source.putInt(AHEAD + lie[0], lie[1]);
            assertThrows(BufferDecompressionException.class, () -> decompressed(gates, source), Arrays.toString(lie));
            assertEquals(++wrong, flinkDecompressor.calls, Arrays.toString(lie));
        }
    }
}
