package dev.faro.internal.index;

import java.util.Arrays;

/**
 * A number for each partition, 0 at first. Memory is proportional to the partitions that were set, so that a large
 * partition count in a header or from a caller costs nothing (HDR-5). Neighbouring partitions share a page, because
 * they are counted one after another.
 */
public final class PartitionCounters {
    private static final int FREE = -1;
    /** Eight partitions share a page: their numbers fill a line of the processor's cache. */
    private static final int PAGE_BITS = 3;

    /** For each page, its partitions' numbers without the last {@link #PAGE_BITS} bits. */
    private int[] keys = new int[8];
    private long[] values = new long[keys.length << PAGE_BITS];
    private int used;
    private int lastKey = FREE;
    private int last;

    /** Counters that are all 0. */
    public PartitionCounters() {
        Arrays.fill(keys, FREE);
    }

    /** Whether no number was set. */
    public boolean isEmpty() {
        return used == 0;
    }

    /** The number of a partition. */
    public long get(int partition) {
        int page = page(partition);
        return keys[page] == FREE ? 0 : values[index(page, partition)];
    }

    /** Sets the number of a partition. */
    public void set(int partition, long value) {
        int page = page(partition);
        if (keys[page] == FREE) {
            if (2 * used >= keys.length) {
                grow();
                page = page(partition);
            }
            keys[page] = partition >>> PAGE_BITS;
            used++;
        }
        values[index(page, partition)] = value;
    }

    private static int index(int page, int partition) {
        return (page << PAGE_BITS) + (partition & (1 << PAGE_BITS) - 1);
    }

    private int page(int partition) {
        int key = partition >>> PAGE_BITS;
        if (key != lastKey) {
            last = find(key);
            lastKey = key;
        }
        return last;
    }

    private int find(int key) {
        int at = (key * 0x9E3779B9 >>> 7) & keys.length - 1;
        while (keys[at] != FREE && keys[at] != key) {
            at = at + 1 & keys.length - 1;
        }
        return at;
    }

    private void grow() {
        int[] oldKeys = keys;
        long[] oldValues = values;
        keys = new int[2 * oldKeys.length];
        values = new long[keys.length << PAGE_BITS];
        Arrays.fill(keys, FREE);
        lastKey = FREE;
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldKeys[i] != FREE) {
                int at = find(oldKeys[i]);
                keys[at] = oldKeys[i];
                System.arraycopy(oldValues, i << PAGE_BITS, values, at << PAGE_BITS, 1 << PAGE_BITS);
            }
        }
    }
}
