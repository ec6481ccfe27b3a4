package dev.faro.index;

import dev.faro.FaroException;
import dev.faro.MemoryBudget;
import dev.faro.internal.index.RegionStore;

/**
 * A cache of region messages that several readers share, so that their memory has one limit. Those that were used least
 * recently leave it first; those of a reader leave it when the reader is closed. Safe to share between threads.
 *
 * <pre>{@code
 * RegionCache cache = new RegionCache(256 << 20);
 * ReaderOptions options = ReaderOptions.DEFAULT.withRegionCache(cache);
 * }</pre>
 */
public final class RegionCache {
    private final RegionStore store;

    /**
     * Makes an empty cache.
     *
     * @param bytes the maximum size of the messages in it; with 0, nothing is kept
     * @throws FaroException {@code invalid-argument} if it is negative
     */
    public RegionCache(long bytes) throws FaroException {
        this(bytes, null);
    }

    /**
     * Makes an empty cache that asks an engine before it keeps a region. A region that is refused is used and not kept,
     * and no other leaves for it. Readers with this cache ask their own budgets for everything else.
     *
     * @param bytes as for {@link #RegionCache(long)}
     * @param budget null if everything is granted
     * @throws FaroException {@code invalid-argument} if the size is negative
     */
    public RegionCache(long bytes, MemoryBudget budget) throws FaroException {
        if (bytes < 0) {
            throw FaroException.invalidArgument("a size of 0 bytes or more", bytes);
        }
        this.store = new RegionStore(bytes, budget);
    }

    /** The maximum size of the messages in it, in bytes. */
    public long bytes() {
        return store.most();
    }

    /** The size of the messages that are in it now, in bytes. */
    public long memoryUsed() {
        return store.memory();
    }

    /** What it has, for other packages of this library, not for callers. */
    @SuppressWarnings("exports")
    public RegionStore store() {
        return store;
    }
}
