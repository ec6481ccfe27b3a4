package dev.faro.reader;

import dev.faro.Limits;
import dev.faro.Listener;
import dev.faro.MemoryBudget;
import dev.faro.index.RegionCache;
import java.util.Objects;

/** Options of a reader. Immutable: {@code ReaderOptions.DEFAULT.withVerify(false)}. */
public final class ReaderOptions {
    /** Default limits; checksums are verified; a cache of 64 MiB; region messages are read as a whole. */
    public static final ReaderOptions DEFAULT = new ReaderOptions(Limits.DEFAULT, true, 64 << 20, Lookup.FULL,
            null, null, null);

    private final Limits limits;
    private final boolean verify;
    private final long cacheBytes;
    private final Lookup lookup;
    private final RegionCache regionCache;
    private final MemoryBudget memoryBudget;
    private final Listener listener;

    private ReaderOptions(Limits limits, boolean verify, long cacheBytes, Lookup lookup, RegionCache regionCache,
            MemoryBudget memoryBudget, Listener listener) {
        this.limits = Objects.requireNonNull(limits, "limits");
        this.verify = verify;
        this.cacheBytes = cacheBytes;
        this.lookup = Objects.requireNonNull(lookup, "lookup");
        this.regionCache = regionCache;
        this.memoryBudget = memoryBudget;
        this.listener = listener;
    }

    /** The limits of what is read from a file (LIM-1). */
    public Limits limits() {
        return limits;
    }

    /** The same options with another {@link #limits}. */
    public ReaderOptions withLimits(Limits other) {
        return new ReaderOptions(other, verify, cacheBytes, lookup, regionCache, memoryBudget, listener);
    }

    /** Whether checksums of partition blocks are verified (INT-7). */
    public boolean verify() {
        return verify;
    }

    /** The same options with another {@link #verify}. */
    public ReaderOptions withVerify(boolean other) {
        return new ReaderOptions(limits, other, cacheBytes, lookup, regionCache, memoryBudget, listener);
    }

    /** The maximum size of the region messages that a reader keeps in a cache of its own, in bytes. */
    public long cacheBytes() {
        return cacheBytes;
    }

    /** The same options with another {@link #cacheBytes}. */
    public ReaderOptions withCacheBytes(long other) {
        return new ReaderOptions(limits, verify, other, lookup, regionCache, memoryBudget, listener);
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
        return new ReaderOptions(limits, verify, cacheBytes, other, regionCache, memoryBudget, listener);
    }

    /** The cache that the reader shares with others; null, the default, for one of its own. */
    public RegionCache regionCache() {
        return regionCache;
    }

    /** The same options with another {@link #regionCache}, which has its own limit: {@link #cacheBytes} is not used. */
    public ReaderOptions withRegionCache(RegionCache other) {
        return new ReaderOptions(limits, verify, cacheBytes, lookup, other, memoryBudget, listener);
    }

    /** The engine's budget of memory; null, the default, if everything is granted. */
    public MemoryBudget memoryBudget() {
        return memoryBudget;
    }

    /**
     * The same options with another {@link #memoryBudget}. The reader asks it before it keeps a region, takes memory to
     * read ahead, or reads a dictionary. A refused region is not kept, and a refused cursor reads block by block. A
     * refused dictionary is {@code io}. Blocks are the caller's and not asked for. A {@link #regionCache} has a budget
     * of its own.
     */
    public ReaderOptions withMemoryBudget(MemoryBudget other) {
        return new ReaderOptions(limits, verify, cacheBytes, lookup, regionCache, other, listener);
    }

    /** Is told when the output was opened, and of faults; null, the default, for no listener. */
    public Listener listener() {
        return listener;
    }

    /** The same options with another {@link #listener}. */
    public ReaderOptions withListener(Listener other) {
        return new ReaderOptions(limits, verify, cacheBytes, lookup, regionCache, memoryBudget, other);
    }
}
