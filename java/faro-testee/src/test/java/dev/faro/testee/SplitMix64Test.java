package dev.faro.testee;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class SplitMix64Test {
    @Test
    void firstNumbersOfSeedZero() {
        SplitMix64 generator = new SplitMix64(0);
        assertEquals(0xE220A8397B1DCDAFL, generator.next());
        assertEquals(0x6E789E6AA1B965F4L, generator.next());
    }

    @Test
    void randomIsLittleEndianAndCut() {
        byte[] expected = HexFormat.of().parseHex("afcd1d7b39a820e2f465");
        assertArrayEquals(expected, SplitMix64.random(0, 10));
        assertEquals(0, SplitMix64.random(0, 0).length);
    }

    @Test
    void wordsFollowTheGroupsFromTheLowest() {
        // The groups of the first number are F A D C D 1 B 7 ..., those of the second begin with 4 F.
        String begin = "zero in index reader index of writer extent ";
        byte[] text = SplitMix64.words(0, 200);
        assertEquals(begin, new String(Arrays.copyOf(text, begin.length()), StandardCharsets.US_ASCII));
        assertArrayEquals(Arrays.copyOf(text, 7), SplitMix64.words(0, 7));
    }

    @Test
    void numbersInARange() {
        SplitMix64 generator = new SplitMix64(0);
        assertEquals(3 + Long.remainderUnsigned(0xE220A8397B1DCDAFL, 7), generator.next(3, 10));
    }
}
