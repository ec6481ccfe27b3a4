package dev.faro.reader;

/** How a reader of a finished output finds the extents of one partition. */
public enum Lookup {
    /** Reads and checks each region message as a whole, and keeps some of them in a cache (REG-10). */
    FULL,
    /**
     * Direct lookup (LKP-1): reads, by position, only the parts of each region message that locate the partition's
     * extents. Use it to read one partition of an output with an index that is not in memory.
     *
     * <p>Of the index, only the footer's checksum is verified. If the footer has statistics, the size of the extents
     * must agree with them (LKP-3). Without statistics, damage of the index can hide the last blocks of a partition,
     * and a damaged bit in a members field can add a shared extent for other partitions. Where that matters, use
     * {@link #FULL}.
     */
    DIRECT
}
