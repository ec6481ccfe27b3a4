package dev.faro.reader;

/** How a finished output's regions are looked up for one partition. */
public enum Lookup {
    /** Each region message is read and checked whole, and a bounded number of them is kept (REG-10). */
    FULL,
    /**
     * Direct lookup (LKP-1): of each region message only what tells where the partition's extents lie, by position. For
     * who wants one partition of an output whose index is not in memory.
     *
     * <p>No checksum of the index but the footer's is verified then. With the footer's statistics the bytes that are found
     * must be as many as they say (LKP-3). Without them damage of the index can hide a partition's last blocks, and a bit
     * of a members field lead to a shared extent that was meant for others: where that matters, take {@link #FULL}.
     */
    DIRECT
}
