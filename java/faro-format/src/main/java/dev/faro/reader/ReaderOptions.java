package dev.faro.reader;

import dev.faro.Limits;

/** How to read. Unchangeable: {@code ReaderOptions.DEFAULT.withVerify(false)}. */
public final class ReaderOptions {
    /** Default limits, everything verified, a cache of 64 MiB, region messages looked up whole. */
    public static final ReaderOptions DEFAULT = new ReaderOptions(Limits.DEFAULT, true, 64 << 20, Lookup.FULL);

    private final Limits limits;
    private final boolean verify;
    private final long cacheBytes;
    private final Lookup lookup;

    private ReaderOptions(Limits limits, boolean verify, long cacheBytes, Lookup lookup) {
        this.limits = limits;
        this.verify = verify;
        this.cacheBytes = cacheBytes;
        this.lookup = lookup;
    }

    /** What is taken from a file at most. */
    public Limits limits() {
        return limits;
    }

    /** The same options with another {@link #limits}. */
    public ReaderOptions withLimits(Limits other) {
        return new ReaderOptions(other, verify, cacheBytes, lookup);
    }

    /** Whether checksums of partition blocks are verified (INT-7). */
    public boolean verify() {
        return verify;
    }

    /** The same options with another {@link #verify}. */
    public ReaderOptions withVerify(boolean other) {
        return new ReaderOptions(limits, other, cacheBytes, lookup);
    }

    /** The most bytes of region messages that are kept in memory. */
    public long cacheBytes() {
        return cacheBytes;
    }

    /** The same options with another {@link #cacheBytes}. */
    public ReaderOptions withCacheBytes(long other) {
        return new ReaderOptions(limits, verify, other, lookup);
    }

    /**
     * How a {@link Reader} finds the extents of one partition: for {@link PartitionReader#partition},
     * {@link PartitionReader#records} and, when the footer has no statistics, {@link PartitionReader#storedBytes}. Ranges,
     * reading by partition, schedulers and checks use whole region messages whatever this is (LKP-1). So does a
     * {@link dev.faro.follow.Follower}, which has checked each message whole when the region was committed.
     */
    public Lookup lookup() {
        return lookup;
    }

    /** The same options with another {@link #lookup}. */
    public ReaderOptions withLookup(Lookup other) {
        return new ReaderOptions(limits, verify, cacheBytes, other);
    }
}
