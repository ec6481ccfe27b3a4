package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.internal.block.BlockReader;
import java.util.function.IntPredicate;

/**
 * The extents that a cursor reads, in the order of the cursor. The fields describe the extent that {@link #next} moved
 * to. For one thread.
 */
abstract class Extents {
    /** The offsets of the extent's begin and end. */
    long start;
    long end;
    /** Bytes before this offset are worth reading with the same system call. */
    long aheadEnd;
    /** Whether the extent is shared. */
    boolean shared;
    /** The partition in the headers of the blocks. */
    int partition;
    /** The sequence of the first block, from the region message; -1 for an own extent unless {@code selective}. */
    long firstBlock;
    /** The number of the region. */
    int region;

    /**
     * Moves to the next extent with blocks.
     *
     * @return false after the last extent
     * @throws FaroException the first check of a region message that fails, or {@code io}
     */
    abstract boolean next() throws FaroException;

    /** Whether this cursor delivers the extent for a partition of the file. */
    abstract boolean isFor(int which);

    /**
     * Tests whether a partition reads the current extent; the test stays valid when the cursor moves on. Only those
     * that a {@link Feed} plans with have it. Null for an own extent.
     */
    IntPredicate readers() {
        throw new UnsupportedOperationException();
    }

    /** The number of regions, from region 0 on, whose messages are not needed any more. */
    int regionsDone() {
        return 0;
    }

    /** The partition that is being read, or -1 if several are read together. */
    abstract int currentPartition();

    /** Reads the blocks of the extent. */
    abstract BlockReader blocks();

    /** Gives back the memory that only these extents use. They are not used any more. */
    void release() {}

    /** Whether the cursor's buffers may serve the next cursor. */
    boolean lendsBlocks() {
        return true;
    }

    final void set(boolean isShared, int ofPartition, long from, long to, long ahead) {
        shared = isShared;
        partition = ofPartition;
        start = from;
        end = to;
        aheadEnd = ahead;
    }
}
