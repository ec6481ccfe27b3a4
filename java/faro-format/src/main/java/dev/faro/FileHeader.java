package dev.faro;

import java.util.UUID;

/**
 * The header of a file (HDR-1). It does not keep the magic, the major version and the checksum: reading checks
 * them, and writing adds them.
 *
 * @param kind which file of an output this is
 * @param versionMinor the minor version of the format, which says which fields messages may have (VER-2)
 * @param framing what plain payloads contain
 * @param partitionCount the number of partitions, 1 to 2^28
 * @param firstPartition the number of the first partition
 * @param readerFeatures the features that a reader must know, as bits; only known ones
 * @param writerFeatures the features that a program that rewrites the file must know, as bits
 * @param producer the producer's number, an unsigned 64-bit value; all ones in a merged file
 * @param attempt the producer's attempt, or the generation of a merge, an unsigned 64-bit value
 * @param fileId 16 bytes, the same in both files of a pair
 */
public record FileHeader(
        FileKind kind,
        int versionMinor,
        Framing framing,
        int partitionCount,
        int firstPartition,
        int readerFeatures,
        int writerFeatures,
        long producer,
        long attempt,
        UUID fileId) {
    /** The size of a header in bytes. */
    public static final int SIZE = 64;
    /** The largest number of partitions; each partition number is less than this. */
    public static final int MAX_PARTITIONS = 1 << 28;
    /** The reader feature {@code selective}: sequences may have gaps (VER-3). */
    public static final int SELECTIVE = 1;
    /** The reader feature {@code dictionaries}: the file's dictionaries may be used to compress blocks (VER-3). */
    public static final int DICTIONARIES = 2;

    /** The minor version of the format that this library writes. */
    private static final int MINOR = 0;

    /** The same header for the other file of the output. */
    public FileHeader withKind(FileKind other) {
        return new FileHeader(other, versionMinor, framing, partitionCount, firstPartition, readerFeatures,
                writerFeatures, producer, attempt, fileId);
    }

    /** Whether sequences may have gaps. */
    public boolean selective() {
        return (readerFeatures & SELECTIVE) != 0;
    }

    /** Whether blocks may be compressed with dictionaries that the file contains. */
    public boolean hasDictionaries() {
        return (readerFeatures & DICTIONARIES) != 0;
    }

    /** Whether messages may have fields that this library does not know (MSG-12). */
    public boolean newerMinor() {
        return versionMinor > MINOR;
    }

    /** Whether the file is merged: its blocks come from many producers (MRG-1). */
    public boolean isMerged() {
        return producer == -1;
    }

    /** Whether the file has a partition with this number. */
    public boolean has(int partition) {
        return partition >= firstPartition && partition - firstPartition < partitionCount;
    }
}
