package dev.faro.internal.sortbuffer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Memory in slots of one size, which form chains. It is allocated in areas of several slots. */
final class Arena {
    /** The size of an area in bytes. With an array's header it is less than half a MiB, which collectors like. */
    private static final int AREA = 480 << 10;
    /** What a slot takes besides its bytes, in bytes. */
    private static final int ENTRY = 8;

    private final int size;
    private final int perArea;
    private final List<Memory> areas = new ArrayList<>();
    /** For each slot: where its bytes end, and the next slot of its chain. */
    private int[] ends = new int[0];
    private int[] next = new int[0];
    private int taken;

    /** @param size the size of a slot in bytes, a multiple of 8 */
    Arena(int size) {
        this.size = size;
        this.perArea = perArea(size);
    }

    private static int perArea(int size) {
        return Math.max(1, AREA / size);
    }

    /** The memory in bytes that an area of slots takes. */
    static int areaBytes(int size) {
        return perArea(size) * (size + ENTRY);
    }

    /** The size of a slot in bytes. */
    int size() {
        return size;
    }

    /** The memory in bytes that {@link #allocate} takes for this many free slots. */
    long missing(int count) {
        long slots = taken + (long) count - (long) areas.size() * perArea;
        return slots <= 0 ? 0 : (slots + perArea - 1) / perArea * areaBytes(size);
    }

    /** Allocates memory, so that this many slots can be taken. */
    void allocate(int count) {
        while (missing(count) > 0) {
            int slots = (areas.size() + 1) * perArea;
            if (slots > ends.length) {
                int capacity = Math.max(slots, ends.length + ends.length / 4);
                ends = Arrays.copyOf(ends, capacity);
                next = Arrays.copyOf(next, capacity);
            }
            areas.add(new Memory(perArea * size));
        }
    }

    /** Takes a slot that was allocated, as the last of its chain. */
    int take() {
        next[taken] = -1;
        return taken++;
    }

    /** The memory of a slot, and of others. */
    Memory memory(int slot) {
        return areas.get(slot / perArea);
    }

    /** The index in {@link #memory} where a slot begins. */
    int begin(int slot) {
        return slot % perArea * size;
    }

    /** The index in {@link #memory} where the bytes in a slot end. */
    int end(int slot) {
        return ends[slot];
    }

    /** Sets where the bytes in a slot end. */
    void end(int slot, int index) {
        ends[slot] = index;
    }

    /** The next slot of a chain, or -1. */
    int next(int slot) {
        return next[slot];
    }

    /** Sets the next slot of a chain. */
    void link(int slot, int following) {
        next[slot] = following;
    }

    /** Makes all slots free, and keeps the memory. */
    void clear() {
        taken = 0;
    }

    /** Releases the areas without a slot that is in use. */
    void trim() {
        areas.subList((taken + perArea - 1) / perArea, areas.size()).clear();
        if (areas.isEmpty()) {
            ends = new int[0];
            next = new int[0];
        }
    }

    /** The memory of all areas in bytes. */
    long capacity() {
        return (long) areas.size() * areaBytes(size);
    }
}
