package dev.faro;

/**
 * The most that a reader accepts from a file (LIM-1); sizes are in bytes. A reader compares each size with its limit,
 * and with the size of the file, before it allocates memory. Immutable:
 * <pre>{@code
 * Limits limits = Limits.DEFAULT.withMaxBlockSize(1 << 20).withMaxRegions(100);
 * }</pre>
 */
public final class Limits {
    /** The default limits: blocks, plain blocks and messages of 64 MiB, 2^20 regions. */
    public static final Limits DEFAULT = new Limits(64 << 20, 64 << 20, 64 << 20, 1 << 20, 1 << 20, 1024, 8 << 20);

    /** The largest size that fits a buffer of the JVM, whatever the caller sets. */
    private static final long LARGEST_BUFFER = Integer.MAX_VALUE - 64;

    private final long maxBlockSize;
    private final long maxPlainSize;
    private final long maxMessageSize;
    private final long maxRegions;
    private final long maxDictionarySize;
    private final long maxDictionaries;
    private final long maxWindowSize;

    private Limits(long maxBlockSize, long maxPlainSize, long maxMessageSize, long maxRegions, long maxDictionarySize,
            long maxDictionaries, long maxWindowSize) {
        this.maxBlockSize = Math.min(maxBlockSize, LARGEST_BUFFER);
        this.maxPlainSize = Math.min(maxPlainSize, LARGEST_BUFFER);
        this.maxMessageSize = Math.min(maxMessageSize, LARGEST_BUFFER);
        this.maxRegions = maxRegions;
        this.maxDictionarySize = Math.min(maxDictionarySize, LARGEST_BUFFER);
        this.maxDictionaries = maxDictionaries;
        this.maxWindowSize = maxWindowSize;
    }

    /** The maximum stored size of a partition block, in bytes. */
    public long maxBlockSize() {
        return maxBlockSize;
    }

    /** The same limits with another {@link #maxBlockSize}. */
    public Limits withMaxBlockSize(long other) {
        return new Limits(other, maxPlainSize, maxMessageSize, maxRegions, maxDictionarySize, maxDictionaries,
                maxWindowSize);
    }

    /** The maximum plain size of a partition block, in bytes. */
    public long maxPlainSize() {
        return maxPlainSize;
    }

    /** The same limits with another {@link #maxPlainSize}. */
    public Limits withMaxPlainSize(long other) {
        return new Limits(maxBlockSize, other, maxMessageSize, maxRegions, maxDictionarySize, maxDictionaries,
                maxWindowSize);
    }

    /** The maximum stored size of a metadata block, in bytes. */
    public long maxMessageSize() {
        return maxMessageSize;
    }

    /** The same limits with another {@link #maxMessageSize}. */
    public Limits withMaxMessageSize(long other) {
        return new Limits(maxBlockSize, maxPlainSize, other, maxRegions, maxDictionarySize, maxDictionaries,
                maxWindowSize);
    }

    /** The maximum number of regions in a file. */
    public long maxRegions() {
        return maxRegions;
    }

    /** The same limits with another {@link #maxRegions}. */
    public Limits withMaxRegions(long other) {
        return new Limits(maxBlockSize, maxPlainSize, maxMessageSize, other, maxDictionarySize, maxDictionaries,
                maxWindowSize);
    }

    /** The maximum stored size of a dictionary block, in bytes. */
    public long maxDictionarySize() {
        return maxDictionarySize;
    }

    /** The same limits with another {@link #maxDictionarySize}. */
    public Limits withMaxDictionarySize(long other) {
        return new Limits(maxBlockSize, maxPlainSize, maxMessageSize, maxRegions, other, maxDictionaries,
                maxWindowSize);
    }

    /** The maximum number of dictionaries in a file. */
    public long maxDictionaries() {
        return maxDictionaries;
    }

    /** The same limits with another {@link #maxDictionaries}. */
    public Limits withMaxDictionaries(long other) {
        return new Limits(maxBlockSize, maxPlainSize, maxMessageSize, maxRegions, maxDictionarySize, other,
                maxWindowSize);
    }

    /** The maximum window of a Zstandard frame, in bytes. */
    public long maxWindowSize() {
        return maxWindowSize;
    }

    /** The same limits with another {@link #maxWindowSize}. */
    public Limits withMaxWindowSize(long other) {
        return new Limits(maxBlockSize, maxPlainSize, maxMessageSize, maxRegions, maxDictionarySize, maxDictionaries,
                other);
    }
}
