package dev.faro;

import java.util.UUID;

/**
 * The header of a file (HDR-1): what a reader has to know before anything else. Magic, major version, reserved field and
 * checksum are not kept: reading checks them, and writing adds them.
 *
 * @param kind what the file is
 * @param versionMinor minor version of the format: which fields the messages may have (VER-2)
 * @param framing what plain payloads are
 * @param partitionCount P, 1 to 2^28
 * @param firstPartition number of the first partition
 * @param readerFeatures bits that a reader must know; only known ones
 * @param writerFeatures bits that a program must know that rewrites the file
 * @param producer the producer's number, an unsigned 64-bit value
 * @param attempt the producer's attempt, an unsigned 32-bit value
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
        int attempt,
        UUID fileId) {
    /** Bytes of a header. */
    public static final int SIZE = 64;
    /** The most partitions, and the bound of their numbers. */
    public static final int MAX_PARTITIONS = 1 << 28;
    /** Reader feature: sequences may have gaps (VER-3). */
    public static final int SELECTIVE = 1;
    /** Reader feature: blocks may be compressed with dictionaries that the file contains (VER-3). */
    public static final int DICTIONARIES = 2;

    /** The minor version of the format that this library writes. */
    private static final int MINOR = 0;

    /** The same header for another file of the output. */
    public FileHeader withKind(FileKind other) {
        return new FileHeader(other, versionMinor, framing, partitionCount, firstPartition, readerFeatures,
                writerFeatures, producer, attempt, fileId);
    }

    /** Whether sequences may have gaps. */
    public boolean selective() {
        return (readerFeatures & SELECTIVE) != 0;
    }

    /** Whether blocks may be compressed with dictionaries. */
    public boolean hasDictionaries() {
        return (readerFeatures & DICTIONARIES) != 0;
    }

    /** Whether messages may have fields that this library does not know (MSG-12). */
    public boolean newerMinor() {
        return versionMinor > MINOR;
    }

    /** Whether a number is one of the file's partitions. */
    public boolean has(int partition) {
        return partition >= firstPartition && partition - firstPartition < partitionCount;
    }
}
