package dev.faro.internal.generated;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import com.google.flatbuffers.FlatBufferBuilder;
import dev.faro.internal.generated.BlockHeader;
import dev.faro.internal.generated.FileHeader;
import dev.faro.internal.generated.FragmentEnd;
import dev.faro.internal.generated.RegionEntry;
import dev.faro.internal.generated.Run;
import dev.faro.internal.generated.Tail;
import java.nio.ByteBuffer;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * The size of each struct and the offset of each field, as the comments of {@code schema/faro.fbs} state them.
 *
 * <p>Byte i of each struct is i, so the value of a field reveals its offset. {@code flatc --conform} does not notice
 * that a struct has grown; these tests do. The Rust and Python libraries have the same tests.
 */
class LayoutTest {
    @Test
    void fileHeader() {
        check(64, builder -> FileHeader.createFileHeader(
                builder, counting(0, 8), 8, 9, 10, 11, 0x0f0e0d0cL, 0x13121110L, 0x17161514L, 0x1f1e1d1c1b1a1918L,
                0x2726252423222120L, counting(40, 16), 0x3b3a3938L, 0x3f3e3d3cL));
    }

    @Test
    void blockHeader() {
        check(24, builder -> BlockHeader.createBlockHeader(
                builder, 0x03020100L, 0x07060504L, 0x0b0a0908L, 0x0f0e0d0cL, 16, 17, 0x1312, 0x17161514L));
    }

    @Test
    void tail() {
        check(24, builder ->
                Tail.createTail(builder, 0x0706050403020100L, 0x0b0a0908L, 0x0f0e0d0cL, counting(16, 8)));
    }

    @Test
    void run() {
        check(32, builder -> Run.createRun(
                builder, 0x0706050403020100L, 0x0f0e0d0c0b0a0908L, 0x13121110L, 0x17161514L, 0x1b1a1918L,
                0x1f1e1d1cL));
    }

    @Test
    void fragmentEnd() {
        check(16, builder ->
                FragmentEnd.createFragmentEnd(builder, 0x0706050403020100L, 0x0b0a0908L, 0x0f0e0d0cL));
    }

    @Test
    void regionEntry() {
        check(32, builder -> RegionEntry.createRegionEntry(
                builder, 0x0706050403020100L, 0x0b0a0908L, 0x0f0e0d0cL, 0x1716151413121110L, 0x1f1e1d1c1b1a1918L));
    }

    /** The bytes that the builder wrote, from the struct to the end, must be 0, 1, 2, ... */
    private static void check(int size, ToIntFunction<FlatBufferBuilder> create) {
        FlatBufferBuilder builder = new FlatBufferBuilder();
        int struct = create.applyAsInt(builder);
        builder.finish(struct);
        ByteBuffer buffer = builder.dataBuffer();
        byte[] written = new byte[struct];
        buffer.get(buffer.limit() - struct, written);
        byte[] expected = new byte[size];
        for (int i = 0; i < size; i++) {
            expected[i] = (byte) i;
        }
        assertArrayEquals(expected, written);
    }

    private static int[] counting(int from, int length) {
        return IntStream.range(from, from + length).toArray();
    }
}
