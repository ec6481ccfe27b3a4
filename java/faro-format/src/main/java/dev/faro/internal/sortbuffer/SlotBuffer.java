package dev.faro.internal.sortbuffer;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import java.nio.ByteBuffer;

/**
 * The records and events of single partitions, with framing records, each at once in a block of its partition. So
 * nothing is left to sort, and a region is written by copying whole blocks.
 */
final class SlotBuffer {
    /** What a stream takes besides its slots, in bytes. */
    static final int STREAM = 128;

    private final Slots slots;
    private final SlotBlocks[] blocks;
    private final SlotStream[] streams;

    /**
     * Makes an empty buffer without slots; {@link #allocate} makes them.
     *
     * @param blockSize the target for the plain size of a block in bytes
     */
    SlotBuffer(int targets, int slotSize, int blockSize) {
        slots = new Slots(slotSize);
        blocks = new SlotBlocks[targets];
        streams = new SlotStream[targets];
        for (int i = 0; i < targets; i++) {
            streams[i] = new SlotStream();
            blocks[i] = new SlotBlocks(slots, blockSize, streams[i]);
        }
    }

    /** The streams of all targets. */
    SlotStream[] streams() {
        return streams;
    }

    /** The number of slots that a record or event of a target may take. */
    int needed(int target, int length) {
        return blocks[target].needed(length);
    }

    /** Adds a record or event; returns false if it may take more slots than are free. */
    boolean add(int target, ByteBuffer record, int kind, long rows) {
        if (slots.missing(needed(target, record.remaining())) > 0) {
            return false;
        }
        if (kind == BlockKind.DATA) {
            blocks[target].add(record, rows);
        } else {
            blocks[target].addEvent(record, kind);
        }
        return true;
    }

    /** The memory in bytes that {@link #allocate} takes for this many free slots. */
    long missing(int count) {
        return slots.missing(count);
    }

    /** Allocates memory, so that this many slots are free. */
    void allocate(int count) {
        slots.allocate(count);
    }

    boolean has(int target) {
        return !blocks[target].isEmpty();
    }

    /** The number of targets that have records. */
    int extents() {
        int extents = 0;
        for (int i = 0; i < streams.length; i++) {
            extents += has(i) ? 1 : 0;
        }
        return extents;
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
        slots.clear();
    }

    /** Releases the memory that holds no record. */
    void trim() {
        slots.trim();
    }

    /** All memory in bytes. */
    long capacity() {
        return slots.capacity() + (long) STREAM * streams.length;
    }
}
