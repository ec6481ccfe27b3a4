package dev.faro.reader;

import dev.faro.internal.index.PartitionCounters;

/** What is known of the sequence of the next block, as a cursor goes (PRT-4; BLK-7, check 10). */
final class Sequences {
    private final boolean selective;
    private final boolean fromStart;
    /** For each partition the sequence after the one that was read last, so 0 where none was. */
    private final PartitionCounters ownNext = new PartitionCounters();
    /** The partition whose turn it is, which needs no counters, or -1. */
    private int turn = -1;
    private long turnNext;
    private long lastShared = -1;
    private boolean shared;
    private int partition;
    private long next;

    /** The number of the next block, or -1 if it is not known. */
    long exactly;
    /** The number is above this one. */
    long above;

    /**
     * For a cursor that has read nothing.
     *
     * @param fromStart whether it begins at region 0
     */
    Sequences(boolean selective, boolean fromStart) {
        this.selective = selective;
        this.fromStart = fromStart;
    }

    /** Before the first block of an extent. */
    void beginExtent(Extents extents) {
        if (extents.turn() != turn) {
            turn = extents.turn();
            turnNext = 0;
            lastShared = -1;
        }
        shared = extents.shared;
        partition = extents.partition;
        exactly = extents.firstBlock;
        if (shared) {
            above = lastShared;
            return;
        }
        next = turn >= 0 ? turnNext : ownNext.get(partition);
        above = next - 1;
        if (!selective && (next != 0 || fromStart)) {
            exactly = next;
        }
    }

    /** The block was read, and bears this number. */
    void read(long sequence) {
        next = sequence + 1;
        exactly = selective ? -1 : next;
        above = sequence;
    }

    /** Behind the last block of an extent. */
    void endExtent() {
        if (shared) {
            lastShared = above;
        } else if (turn >= 0) {
            turnNext = next;
        } else {
            ownNext.set(partition, next);
        }
    }
}
