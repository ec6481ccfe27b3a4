package dev.faro.bench;

/** The generator for data and partitions, with the same numbers in all languages. */
public final class SplitMix {
    private long state;

    /** Makes a generator with a seed. */
    public SplitMix(long seed) {
        state = seed;
    }

    /** The next number, with all 64 bits. */
    public long next() {
        state += 0x9E3779B97F4A7C15L;
        long z = state;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }

    /** The next number times {@code bound}, shifted right by 64: 0 to {@code bound} - 1. */
    public int below(int bound) {
        long z = next();
        // multiplyHigh treats its arguments as signed.
        return (int) (Math.multiplyHigh(z, bound) + (z >> 63 & bound));
    }

    /** {@code floor(bound * u^4)} of the next number: a tenth of the values gets more than half of the numbers. */
    public int skewedBelow(int bound) {
        double u = (next() >>> 11) * 0x1p-53;
        double square = u * u;
        return (int) (bound * (square * square));
    }
}
