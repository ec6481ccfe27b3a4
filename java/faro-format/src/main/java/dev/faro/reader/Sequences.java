package dev.faro.reader;

import dev.faro.internal.index.PartitionCounters;

/** What a cursor knows of the sequence of its next block (PRT-4; BLK-7, check 10). */
final class Sequences {
    private final boolean selective;
    private final boolean fromStart;
    /** For each partition, the sequence after the last block that was read; 0 if there was none. */
    private final PartitionCounters ownNext = new PartitionCounters();
    /** The partition that is being read, which needs no counters, or -1. */
    private int currentPartition = -1;
    private long currentNext;
    private long lastShared = -1;
    private boolean shared;
    private int partition;
    private long next;

    /** The sequence of the next block, or -1 if it is not known. */
    long exactly;
    /** The sequence of the next block is above this. */
    long above;

    /**
     * Makes the sequences of a cursor that has read nothing.
     *
     * @param fromStart whether the cursor begins at region 0
     */
    Sequences(boolean selective, boolean fromStart) {
        this.selective = selective;
        this.fromStart = fromStart;
    }

    /** Called before the first block of an extent. */
    void beginExtent(Extents extents) {
        if (extents.currentPartition() != currentPartition) {
            currentPartition = extents.currentPartition();
            currentNext = 0;
            lastShared = -1;
        }
        shared = extents.shared;
        partition = extents.partition;
        exactly = extents.firstBlock;
        if (shared) {
            above = lastShared;
            return;
        }
        next = currentPartition >= 0 ? currentNext : ownNext.get(partition);
        above = next - 1;
        if (!selective && (next != 0 || fromStart)) {
            exactly = next;
        }
    }

    /** Called after a block with this sequence. */
    void read(long sequence) {
        next = sequence + 1;
        exactly = selective ? -1 : next;
        above = sequence;
    }

    /** Called after the last block of an extent. */
    void endExtent() {
        if (shared) {
            lastShared = above;
        } else if (currentPartition >= 0) {
            currentNext = next;
        } else {
            ownNext.set(partition, next);
        }
    }
}
