package dev.faro.reader;

import dev.faro.Limits;
import dev.faro.index.RegionCache;
import java.util.Objects;

/** Options of a reader. Immutable: {@code ReaderOptions.DEFAULT.withVerify(false)}. */
public final class ReaderOptions {
    /** Default limits; checksums are verified; a cache of 64 MiB; region messages are read as a whole. */
    public static final ReaderOptions DEFAULT = new ReaderOptions(Limits.DEFAULT, true, 64 << 20, Lookup.FULL, null);

    private final Limits limits;
    private final boolean verify;
    private final long cacheBytes;
    private final Lookup lookup;
    private final RegionCache regionCache;

    private ReaderOptions(Limits limits, boolean verify, long cacheBytes, Lookup lookup, RegionCache regionCache) {
        this.limits = Objects.requireNonNull(limits, "limits");
        this.verify = verify;
        this.cacheBytes = cacheBytes;
        this.lookup = Objects.requireNonNull(lookup, "lookup");
        this.regionCache = regionCache;
    }

    /** The limits of what is read from a file (LIM-1). */
    public Limits limits() {
        return limits;
    }

    /** The same options with another {@link #limits}. */
    public ReaderOptions withLimits(Limits other) {
        return new ReaderOptions(other, verify, cacheBytes, lookup, regionCache);
    }

    /** Whether checksums of partition blocks are verified (INT-7). */
    public boolean verify() {
        return verify;
    }

    /** The same options with another {@link #verify}. */
    public ReaderOptions withVerify(boolean other) {
        return new ReaderOptions(limits, other, cacheBytes, lookup, regionCache);
    }

    /** The maximum size of the region messages that a reader keeps in a cache of its own, in bytes. */
    public long cacheBytes() {
        return cacheBytes;
    }

    /** The same options with another {@link #cacheBytes}. */
    public ReaderOptions withCacheBytes(long other) {
        return new ReaderOptions(limits, verify, other, lookup, regionCache);
    }

    /**
     * How a {@link Reader} finds the extents of one partition, for {@link PartitionReader#partition},
     * {@link PartitionReader#records} and, if the footer has no statistics, {@link PartitionReader#storedBytes}.
     * Ranges, reading by partition, schedulers and checks always use whole region messages (LKP-1). So does a
     * {@link dev.faro.follow.Follower}, which has checked each whole message when the region was committed.
     */
    public Lookup lookup() {
        return lookup;
    }

    /** The same options with another {@link #lookup}. */
    public ReaderOptions withLookup(Lookup other) {
        return new ReaderOptions(limits, verify, cacheBytes, other, regionCache);
    }

    /** The cache that the reader shares with others; null, the default, for one of its own. */
    public RegionCache regionCache() {
        return regionCache;
    }

    /** The same options with another {@link #regionCache}, which has its own limit: {@link #cacheBytes} is not used. */
    public ReaderOptions withRegionCache(RegionCache other) {
        return new ReaderOptions(limits, verify, cacheBytes, lookup, other);
    }
}
