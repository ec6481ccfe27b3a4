package dev.faro.index;

import java.util.Arrays;

/**
 * A number per partition, 0 at first, in memory in proportion to the partitions that were counted: neither a header nor
 * a caller's partition count alone takes any (HDR-5).
 */
public final class PartitionCounters {
    private static final int FREE = -1;

    private int[] keys = new int[16];
    private long[] values = new long[16];
    private int used;

    /** Counters that are all 0. */
    public PartitionCounters() {
        Arrays.fill(keys, FREE);
    }

    /** The number of a partition. */
    public long get(int partition) {
        int at = find(partition);
        return keys[at] == FREE ? 0 : values[at];
    }

    /** Sets the number of a partition. */
    public void set(int partition, long value) {
        int at = find(partition);
        if (keys[at] == FREE) {
            if (2 * used >= keys.length) {
                grow();
                at = find(partition);
            }
            keys[at] = partition;
            used++;
        }
        values[at] = value;
    }

    private int find(int partition) {
        int at = (partition * 0x9E3779B9 >>> 7) & keys.length - 1;
        while (keys[at] != FREE && keys[at] != partition) {
            at = at + 1 & keys.length - 1;
        }
        return at;
    }

    private void grow() {
        int[] oldKeys = keys;
        long[] oldValues = values;
        keys = new int[2 * oldKeys.length];
        values = new long[keys.length];
        Arrays.fill(keys, FREE);
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldKeys[i] != FREE) {
                int at = find(oldKeys[i]);
                keys[at] = oldKeys[i];
                values[at] = oldValues[i];
            }
        }
    }
}
