package dev.faro.reader;

import dev.faro.Limits;
import dev.faro.follow.Follower;

/**
 * How to read.
 *
 * @param limits what is taken from a file at most
 * @param verify whether checksums of partition blocks are verified (INT-7)
 * @param cacheBytes bytes of region messages that are kept in memory at most
 * @param lookup how a {@link Reader} finds the extents of one partition: for {@link PartitionReader#partition},
 *     {@link PartitionReader#records} and, when the footer has no statistics, {@link PartitionReader#storedBytes}. Ranges, reading by
 *     partition, schedulers and checks use whole region messages whatever it is (LKP-1); so does a {@link Follower},
 *     which has checked each message whole when the region was committed
 */
public record ReaderOptions(Limits limits, boolean verify, long cacheBytes, Lookup lookup) {
    /** Default limits, everything verified, a cache of 16 MiB, region messages looked up whole. */
    public static final ReaderOptions DEFAULT = new ReaderOptions(Limits.DEFAULT, true, 16 << 20);

    /** Options with whole region messages looked up. */
    public ReaderOptions(Limits limits, boolean verify, long cacheBytes) {
        this(limits, verify, cacheBytes, Lookup.FULL);
    }

    /** The same with other limits. */
    public ReaderOptions withLimits(Limits other) {
        return new ReaderOptions(other, verify, cacheBytes, lookup);
    }

    /** The same with checksums of partition blocks verified or not. */
    public ReaderOptions withVerify(boolean other) {
        return new ReaderOptions(limits, other, cacheBytes, lookup);
    }

    /** The same with another way to look one partition up. */
    public ReaderOptions withLookup(Lookup other) {
        return new ReaderOptions(limits, verify, cacheBytes, other);
    }
}
