package dev.faro.index;

/**
 * The footer's statistics for each partition (FTR-4). They are hints until a check has compared them with the file
 * (FTR-6). Each method takes one of the file's partitions.
 */
public interface Statistics {
    /** The size in bytes of the extents that a partition reads, with block headers and padding. */
    long stored(int partition);

    /** The plain size in bytes of the data blocks that a partition reads. */
    long plain(int partition);

    /** The number of records in the data blocks that a partition reads. */
    long records(int partition);
}
