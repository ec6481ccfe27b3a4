package dev.faro.bench;

/** The numbers that data and partitions are drawn from, the same in all languages. */
public final class SplitMix {
    private long state;

    /** Begins with a seed. */
    public SplitMix(long seed) {
        state = seed;
    }

    /** The next number, all 64 bits of it. */
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
        // The library's high half takes its numbers for signed ones.
        return (int) (Math.multiplyHigh(z, bound) + (z >> 63 & bound));
    }

    /** {@code floor(bound * u^4)} of the next number: a tenth of the values gets more than half. */
    public int skewedBelow(int bound) {
        double u = (next() >>> 11) * 0x1p-53;
        double square = u * u;
        return (int) (bound * (square * square));
    }
}
