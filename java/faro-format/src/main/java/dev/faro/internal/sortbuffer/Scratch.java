package dev.faro.internal.sortbuffer;

/** Memory that sorting needs; one for all parts of a buffer. */
final class Scratch {
    private final int capacity;
    private Memory memory;
    private long[] longs = {};

    /**
     * Takes memory when it is asked for.
     *
     * @param capacity of the largest parts that are put in order, in bytes
     */
    Scratch(int capacity) {
        this.capacity = capacity;
    }

    int capacity() {
        return capacity;
    }

    /** Where the records of a part may be put in order, as large as the part. */
    Memory memory(int capacity) {
        if (memory == null || memory.capacity() != capacity) {
            memory = new Memory(capacity);
        }
        return memory;
    }

    /** Gives the ordered records for what they were copied from, which serves the next time. */
    Memory swap(Memory free) {
        Memory ordered = memory;
        memory = free;
        return ordered;
    }

    /** At least so many numbers, of any value. */
    long[] longs(int count) {
        if (longs.length < count) {
            longs = new long[Math.max(count, Math.min(2 * longs.length, 1 << 19))];
        }
        return longs;
    }

    /** Gives the memory back. */
    void release() {
        memory = null;
        longs = new long[0];
    }
}
