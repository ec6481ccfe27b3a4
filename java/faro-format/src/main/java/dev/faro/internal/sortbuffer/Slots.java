package dev.faro.internal.sortbuffer;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import java.nio.ByteBuffer;

/**
 * The records and events of single partitions in slots, with framing records, each at once in a block of its partition.
 * So nothing is left to sort, and a region is written by copying whole blocks.
 */
final class Slots {
    /** What a partition takes besides its slots, in bytes. */
    static final int PARTITION = 128;

    private final Arena arena;
    private final SlotBlocks[] blocks;
    private final Tail[] tails;
    private long events;

    /**
     * Makes an empty buffer without slots; {@link #allocate} makes them.
     *
     * @param blockSize the target for the plain size of a block in bytes
     */
    Slots(int targets, int slotSize, int blockSize) {
        arena = new Arena(slotSize);
        blocks = new SlotBlocks[targets];
        tails = new Tail[targets];
        for (int i = 0; i < targets; i++) {
            tails[i] = new Tail();
            blocks[i] = new SlotBlocks(arena, blockSize, tails[i]);
        }
    }

    /** The tails of all targets. */
    Tail[] tails() {
        return tails;
    }

    /** The number of slots that a record or event of a target may take. */
    int needed(int target, int length) {
        return blocks[target].needed(length);
    }

    /** Adds a record or event; returns false if it may take more slots than are free. */
    boolean add(int target, ByteBuffer record, int kind, long rows) {
        if (arena.missing(needed(target, record.remaining())) > 0) {
            return false;
        }
        if (kind == BlockKind.DATA) {
            blocks[target].add(record, rows);
        } else {
            blocks[target].addEvent(record, kind);
            events++;
        }
        return true;
    }

    /** The memory in bytes that {@link #allocate} takes for this many free slots. */
    long missing(int count) {
        return arena.missing(count);
    }

    /** Allocates memory, so that this many slots are free. */
    void allocate(int count) {
        arena.allocate(count);
    }

    boolean has(int target) {
        return !blocks[target].isEmpty();
    }

    /** The number of targets that have records. */
    int extents() {
        int extents = 0;
        for (int i = 0; i < tails.length; i++) {
            extents += has(i) ? 1 : 0;
        }
        return extents;
    }

    /** The number of records, as they count in the statistics, and of events. */
    long entries() {
        long entries = events;
        for (Tail each : tails) {
            entries += each.records;
        }
        return entries;
    }

    /** Passes the blocks of a target to the sink. */
    void drain(int target, ExtentSink sink) throws FaroException {
        blocks[target].drain(sink);
    }

    /** Removes the records, and keeps the memory. */
    void clear() {
        for (SlotBlocks each : blocks) {
            each.clear();
        }
        events = 0;
        arena.clear();
    }

    /** Releases the memory that holds no record. */
    void trim() {
        arena.trim();
    }

    /** All memory in bytes. */
    long capacity() {
        return arena.capacity() + (long) PARTITION * tails.length;
    }
}
