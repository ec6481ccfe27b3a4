package dev.faro.reader;

import dev.faro.Limits;

/**
 * How to read.
 *
 * @param limits what is taken from a file at most
 * @param verify whether checksums of partition blocks are verified (INT-7)
 * @param cacheBytes bytes of region messages that are kept in memory at most
 */
public record ReaderOptions(Limits limits, boolean verify, long cacheBytes) {
    /** Default limits, everything verified, a cache of 16 MiB. */
    public static final ReaderOptions DEFAULT = new ReaderOptions(Limits.DEFAULT, true, 16 << 20);

    /** The same with other limits. */
    public ReaderOptions withLimits(Limits other) {
        return new ReaderOptions(other, verify, cacheBytes);
    }

    /** The same with checksums of partition blocks verified or not. */
    public ReaderOptions withVerify(boolean other) {
        return new ReaderOptions(limits, other, cacheBytes);
    }
}
