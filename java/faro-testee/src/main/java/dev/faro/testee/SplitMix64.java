package dev.faro.testee;

import java.nio.charset.StandardCharsets;

/** The generator of the protocol: the same seed gives the same bytes in every testee. */
final class SplitMix64 {
    private static final byte[][] WORDS = words(
            "the of shuffle and partition region block extent to data in writer reader index footer zero");

    private long state;

    SplitMix64(long seed) {
        state = seed;
    }

    long next() {
        state += 0x9E3779B97F4A7C15L;
        long z = state;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }

    /** A number in [{@code least}, {@code end}). */
    long next(long least, long end) {
        return least + Long.remainderUnsigned(next(), end - least);
    }

    /** The content {@code random} of the protocol. */
    static byte[] random(long seed, int length) {
        SplitMix64 generator = new SplitMix64(seed);
        byte[] bytes = new byte[length];
        long number = 0;
        for (int i = 0; i < length; i++) {
            number = i % 8 == 0 ? generator.next() : number >>> 8;
            bytes[i] = (byte) number;
        }
        return bytes;
    }

    /** The content {@code words} of the protocol. */
    static byte[] words(long seed, int length) {
        SplitMix64 generator = new SplitMix64(seed);
        byte[] bytes = new byte[length];
        long number = 0;
        int word = 0;
        int at = 0;
        while (at < length) {
            number = word++ % 16 == 0 ? generator.next() : number >>> 4;
            byte[] text = WORDS[(int) (number & 15)];
            int count = Math.min(text.length, length - at);
            System.arraycopy(text, 0, bytes, at, count);
            at += count;
        }
        return bytes;
    }

    /** Each word, followed by a space. */
    private static byte[][] words(String text) {
        String[] words = text.split(" ");
        byte[][] bytes = new byte[words.length][];
        for (int i = 0; i < words.length; i++) {
            bytes[i] = (words[i] + " ").getBytes(StandardCharsets.US_ASCII);
        }
        return bytes;
    }
}
