package dev.faro.index;

/**
 * A committed region: where the extents of its partitions are. Immutable, and safe to share between threads. Offsets
 * are absolute, in bytes, in the data file or single file. A slot is an own extent; in a dense region it may be empty.
 */
public interface Region {
    /** The number of the region, counted from 0. */
    int sequence();

    /** The offset of the first block. */
    long dataOffset();

    /** The offset after the last block. */
    long dataEnd();

    /** The number of slots. */
    int slots();

    /** The offset of a slot's extent. For the slot after the last, the offset where the own extents end. */
    long start(int slot);

    /** The partition of a slot. */
    int partitionOf(int slot);

    /** The slot of one of the file's partitions, or -1 if the partition has none. */
    int slotOf(int partition);

    /** The sequence of a slot's first block, in files with the reader feature {@code selective} (REG-9). */
    long firstBlock(int slot);

    /** The number of shared extents. */
    int sharedCount();

    /** The offset of a shared extent. */
    long sharedStart(int shared);

    /** The offset after a shared extent. */
    long sharedEnd(int shared);

    /** The sequence of a shared extent's first block (REG-11). */
    long sharedFirstBlock(int shared);

    /** Whether a shared extent is for every partition of the file. */
    boolean isForAll(int shared);

    /** Whether one of the file's partitions reads a shared extent (REG-7). */
    boolean isMember(int shared, int partition);

    /** The first partition in [from, to) that reads a shared extent, or -1 if none does. */
    int nextMember(int shared, int from, int to);

    /** The size in bytes of the extents that a partition reads, with block headers and padding. */
    long storedBytes(int partition);
}
