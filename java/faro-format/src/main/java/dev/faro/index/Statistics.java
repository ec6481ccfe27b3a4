package dev.faro.index;

/**
 * The footer's statistics for each partition (FTR-4). They are hints until a check has compared them with the file
 * (FTR-6). Partitions are those of the file. The number of a partition contains what is stored once for all partitions,
 * so a sum over partitions counts that repeatedly.
 */
public interface Statistics {
    /** The size in bytes of the extents that a partition reads, with block headers and padding. */
    long stored(int partition);

    /** The plain size in bytes of the data blocks that a partition reads. */
    long plain(int partition);

    /** The number of records in the data blocks that a partition reads. */
    long records(int partition);

    /** The part of each partition's {@link #stored} that is stored once for all partitions. */
    long storedToAll();

    /** The part of each partition's {@link #plain} that is stored once for all partitions. */
    long plainToAll();

    /** The part of each partition's {@link #records} that is stored once for all partitions. */
    long recordsToAll();
}
