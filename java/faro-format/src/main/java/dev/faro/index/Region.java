package dev.faro.index;

/**
 * One committed region: where the extents of its partitions are. Unchangeable, to be shared between threads. Offsets are
 * absolute, in bytes, in the data file or single file. A slot is an own extent, which may be empty in a dense region.
 */
public interface Region {
    /** The region's number, from 0 on. */
    int sequence();

    /** Where its blocks begin. */
    long dataOffset();

    /** Where its blocks end. */
    long dataEnd();

    /** Count of the slots. */
    int slots();

    /** Where the own extent of a slot begins; for the slot after the last, where the own extents end. */
    long start(int slot);

    /** The partition of a slot. */
    int partitionOf(int slot);

    /** The slot of one of the file's partitions, or -1 if it has none. */
    int slotOf(int partition);

    /** Sequence of the first block of a slot, in files with the reader feature {@code selective} (REG-9). */
    long firstBlock(int slot);

    /** Count of the shared extents. */
    int sharedCount();

    /** Where a shared extent begins. */
    long sharedStart(int shared);

    /** Where a shared extent ends. */
    long sharedEnd(int shared);

    /** Sequence of the first block of a shared extent (REG-11). */
    long sharedFirstBlock(int shared);

    /** Whether a shared extent is for every partition of the file. */
    boolean isForAll(int shared);

    /** Whether one of the file's partitions reads a shared extent (REG-7). */
    boolean isMember(int shared, int partition);

    /** The first partition from {@code from} to before {@code to} that reads a shared extent, or -1. */
    int nextMember(int shared, int from, int to);

    /** Bytes of the extents that a partition reads, headers and padding included. */
    long storedBytes(int partition);
}
