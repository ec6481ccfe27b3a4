package dev.faro;

/**
 * What a reader takes from a file at most (LIM-1); sizes in bytes. A size is compared with its limit, and with the bytes
 * that are there, before memory is taken for it. Unchangeable:
 * {@code Limits.DEFAULT.withMaxBlockSize(1 << 20).withMaxRegions(100)}.
 */
public final class Limits {
    /** The limits of a caller that sets none: blocks, plain blocks and messages of 64 MiB, 2^20 regions. */
    public static final Limits DEFAULT = new Limits(64 << 20, 64 << 20, 64 << 20, 1 << 20, 1 << 20, 1024, 8 << 20);

    /** A buffer of the JVM holds less than 2^31 bytes: this is the most, whatever the caller sets. */
    private static final long MOST = Integer.MAX_VALUE - 64;

    private final long maxBlockSize;
    private final long maxPlainSize;
    private final long maxMessageSize;
    private final long maxRegions;
    private final long maxDictionarySize;
    private final long maxDictionaries;
    private final long maxWindowSize;

    private Limits(long maxBlockSize, long maxPlainSize, long maxMessageSize, long maxRegions, long maxDictionarySize,
            long maxDictionaries, long maxWindowSize) {
        this.maxBlockSize = Math.min(maxBlockSize, MOST);
        this.maxPlainSize = Math.min(maxPlainSize, MOST);
        this.maxMessageSize = Math.min(maxMessageSize, MOST);
        this.maxRegions = maxRegions;
        this.maxDictionarySize = Math.min(maxDictionarySize, MOST);
        this.maxDictionaries = maxDictionaries;
        this.maxWindowSize = maxWindowSize;
    }

    /** Stored size of a partition block. */
    public long maxBlockSize() {
        return maxBlockSize;
    }

    /** The same options with another {@link #maxBlockSize}. */
    public Limits withMaxBlockSize(long other) {
        return new Limits(other, maxPlainSize, maxMessageSize, maxRegions, maxDictionarySize, maxDictionaries,
                maxWindowSize);
    }

    /** Plain size of a partition block. */
    public long maxPlainSize() {
        return maxPlainSize;
    }

    /** The same options with another {@link #maxPlainSize}. */
    public Limits withMaxPlainSize(long other) {
        return new Limits(maxBlockSize, other, maxMessageSize, maxRegions, maxDictionarySize, maxDictionaries,
                maxWindowSize);
    }

    /** Stored size of a metadata block. */
    public long maxMessageSize() {
        return maxMessageSize;
    }

    /** The same options with another {@link #maxMessageSize}. */
    public Limits withMaxMessageSize(long other) {
        return new Limits(maxBlockSize, maxPlainSize, other, maxRegions, maxDictionarySize, maxDictionaries,
                maxWindowSize);
    }

    /** Regions of a file. */
    public long maxRegions() {
        return maxRegions;
    }

    /** The same options with another {@link #maxRegions}. */
    public Limits withMaxRegions(long other) {
        return new Limits(maxBlockSize, maxPlainSize, maxMessageSize, other, maxDictionarySize, maxDictionaries,
                maxWindowSize);
    }

    /** Stored size of a dictionary block. */
    public long maxDictionarySize() {
        return maxDictionarySize;
    }

    /** The same options with another {@link #maxDictionarySize}. */
    public Limits withMaxDictionarySize(long other) {
        return new Limits(maxBlockSize, maxPlainSize, maxMessageSize, maxRegions, other, maxDictionaries,
                maxWindowSize);
    }

    /** Dictionaries of a file. */
    public long maxDictionaries() {
        return maxDictionaries;
    }

    /** The same options with another {@link #maxDictionaries}. */
    public Limits withMaxDictionaries(long other) {
        return new Limits(maxBlockSize, maxPlainSize, maxMessageSize, maxRegions, maxDictionarySize, other,
                maxWindowSize);
    }

    /** Window of a Zstandard frame. */
    public long maxWindowSize() {
        return maxWindowSize;
    }

    /** The same options with another {@link #maxWindowSize}. */
    public Limits withMaxWindowSize(long other) {
        return new Limits(maxBlockSize, maxPlainSize, maxMessageSize, maxRegions, maxDictionarySize, maxDictionaries,
                other);
    }
}
