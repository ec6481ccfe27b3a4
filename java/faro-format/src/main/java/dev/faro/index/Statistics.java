package dev.faro.index;

/**
 * The footer's statistics for each partition (FTR-4). They are hints until a check has compared them with the file
 * (FTR-6). A partition is one of the file's.
 */
public interface Statistics {
    /** Bytes of the extents that a partition reads, block headers and padding included. */
    long stored(int partition);

    /** Plain bytes of the data blocks that a partition reads. */
    long plain(int partition);

    /** Records in the data blocks that a partition reads. */
    long records(int partition);
}
