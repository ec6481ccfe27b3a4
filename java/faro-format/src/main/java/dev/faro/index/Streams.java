package dev.faro.index;

/**
 * How many blocks the streams of a file with the reader feature {@code selective} had, and how many of them are not in
 * the file, as its footer states (FTR-8, PRT-8). They are hints until a check has compared them with the file (FTR-6).
 * Partitions are those of the file.
 */
public interface Streams {
    /** The number of own blocks that a partition had: the sequence that its next own block would have had. */
    long next(int partition);

    /** The number of own blocks of a partition that are not in the file, since they were consumed before. */
    long missing(int partition);

    /** The number of shared blocks that there were: the sequence that the next one would have had. */
    long sharedNext();

    /** The number of shared blocks that are not in the file, since they were consumed before. */
    long sharedMissing();
}
