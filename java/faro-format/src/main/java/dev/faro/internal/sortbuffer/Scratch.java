package dev.faro.internal.sortbuffer;

/** Temporary memory for sorting, shared by all parts of a buffer. */
final class Scratch {
    private final int capacity;
    private Memory memory;
    private long[] longs = {};

    /**
     * Makes scratch memory, which is allocated when it is needed.
     *
     * @param capacity the capacity of the largest parts that are sorted, in bytes
     */
    Scratch(int capacity) {
        this.capacity = capacity;
    }

    int capacity() {
        return capacity;
    }

    /** Memory for the sorted records of a part, as large as the part. */
    Memory memory(int capacity) {
        if (memory == null || memory.capacity() != capacity) {
            // First, so that there are never two.
            memory = null;
            memory = new Memory(capacity);
        }
        return memory;
    }

    /** Returns the sorted records, and keeps the memory that they were copied from for the next time. */
    Memory swap(Memory free) {
        Memory ordered = memory;
        memory = free;
        return ordered;
    }

    /** An array of at least {@code count} numbers, with any values. */
    long[] longs(int count) {
        if (longs.length < count) {
            int size = Math.max(count, Math.min(2 * longs.length, 1 << 19));
            longs = new long[0];
            longs = new long[size];
        }
        return longs;
    }

    /** Releases the memory. */
    void release() {
        memory = null;
        longs = new long[0];
    }
}
