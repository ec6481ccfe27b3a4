package dev.faro;

/**
 * What a reader takes from a file at most (LIM-1); sizes in bytes. A size is held against its limit, and against the
 * bytes that are there, before memory is taken for it.
 *
 * @param maxBlockSize stored size of a partition block
 * @param maxPlainSize plain size of a partition block
 * @param maxMessageSize stored size of a metadata block
 * @param maxRegions regions of a file
 * @param maxDictionarySize stored size of a dictionary block
 * @param maxDictionaries dictionaries of a file
 * @param maxWindowSize window of a Zstandard frame
 */
public record Limits(
        long maxBlockSize,
        long maxPlainSize,
        long maxMessageSize,
        long maxRegions,
        long maxDictionarySize,
        long maxDictionaries,
        long maxWindowSize) {
    /** The limits that a caller gets who sets none. */
    public static final Limits DEFAULT = new Limits(64 << 20, 64 << 20, 64 << 20, 1 << 20, 1 << 20, 1024, 8 << 20);

    /** A JVM's buffers hold less than 2^31 bytes: whatever the caller sets, this much is the most. */
    private static final long MOST = Integer.MAX_VALUE - 64;

    /** Limits; a size beyond what a buffer of the JVM can hold is lowered to that. */
    public Limits {
        maxBlockSize = Math.min(maxBlockSize, MOST);
        maxPlainSize = Math.min(maxPlainSize, MOST);
        maxMessageSize = Math.min(maxMessageSize, MOST);
        maxDictionarySize = Math.min(maxDictionarySize, MOST);
    }
}
