package dev.faro.hybrid;

/**
 * How far a partition was read (HYB-3): what {@link HybridConsumer#position} returns, and
 * {@link HybridStore#open(int, HybridPosition, Runnable)} goes on from.
 *
 * @param region the number of the region from which the next block may come
 * @param own the sequence from which the partition's own blocks are wanted
 * @param shared the sequence from which shared blocks are wanted
 */
public record HybridPosition(int region, long own, long shared) {
    /** The beginning of a partition. */
    public static final HybridPosition START = new HybridPosition(0, 0, 0);

    /** Checks that no number is negative. */
    public HybridPosition {
        if (region < 0 || own < 0 || shared < 0) {
            throw new IllegalArgumentException("a negative number: " + region + ", " + own + ", " + shared);
        }
    }
}
