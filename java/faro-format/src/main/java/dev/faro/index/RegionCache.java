package dev.faro.index;

import dev.faro.FaroException;
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
        if (bytes < 0) {
            throw FaroException.invalidArgument("a size of 0 bytes or more", bytes);
        }
        this.store = new RegionStore(bytes);
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
