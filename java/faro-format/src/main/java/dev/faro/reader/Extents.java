package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.internal.block.BlockReader;

/**
 * The extents that a cursor reads, in its order. The fields are those of the extent that {@link #next} went to. For one
 * thread.
 */
abstract class Extents {
    /** Where the extent begins and ends. */
    long start;
    long end;
    /** Bytes up to here are worth reading in the same go. */
    long aheadEnd;
    /** Whether it is a shared extent. */
    boolean shared;
    /** The partition that its blocks bear. */
    int partition;
    /** What the region says of the sequence of its first block; -1 for an own extent unless {@code selective}. */
    long firstBlock;
    /** Number of the region. */
    int region;

    /**
     * Goes to the next extent that has blocks.
     *
     * @return false behind the last
     * @throws FaroException the first check of a region message that fails, or {@code io}
     */
    abstract boolean next() throws FaroException;

    /** Whether a partition of the file reads the extent, as far as this cursor goes. */
    abstract boolean isFor(int which);

    /** The partition whose turn it is, or -1 where several take turns. */
    abstract int turn();

    /** Where the blocks of the extent are to be had. */
    abstract BlockReader blocks();

    /** Whether the cursor's buffers may serve the next cursor. */
    boolean lendsBlocks() {
        return true;
    }

    final void set(boolean isShared, int itsPartition, long from, long to, long ahead) {
        shared = isShared;
        partition = itsPartition;
        start = from;
        end = to;
        aheadEnd = ahead;
    }
}
