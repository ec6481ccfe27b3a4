package dev.faro.merge;

import dev.faro.index.Run;
import java.util.Arrays;
import java.util.BitSet;

/**
 * The runs of an open region, with their partitions. A service has them for thousands of partitions, each of thousands of
 * producers, so a run takes 36 bytes and not four objects.
 */
final class OpenRuns {
    private static final int LEAST = 16;

    private long[] producers = {};
    private long[] attempts = {};
    private int[] partitions = {};
    private int[] firstBlocks = {};
    private int[] blocks = {};
    private int[] units = {};
    private final BitSet last = new BitSet();
    private int count;
    private long bytes;

    int count() {
        return count;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** The bytes of all runs. */
    long bytes() {
        return bytes;
    }

    void add(int partition, Run run) {
        if (count == partitions.length) {
            int capacity = Math.max(LEAST, count + (count >> 1));
            producers = Arrays.copyOf(producers, capacity);
            attempts = Arrays.copyOf(attempts, capacity);
            partitions = Arrays.copyOf(partitions, capacity);
            firstBlocks = Arrays.copyOf(firstBlocks, capacity);
            blocks = Arrays.copyOf(blocks, capacity);
            units = Arrays.copyOf(units, capacity);
        }
        producers[count] = run.producer();
        attempts[count] = run.attempt();
        partitions[count] = partition;
        firstBlocks[count] = (int) run.firstBlock();
        blocks[count] = (int) run.blocks();
        units[count] = (int) (run.length() / 8);
        last.set(count, run.last());
        count++;
        bytes += run.length();
    }

    int partition(int at) {
        return partitions[at];
    }

    /** The size of a run in units of 8 bytes: fewer than 2^32, as those of its region. */
    int units(int at) {
        return units[at];
    }

    Run run(int at) {
        return new Run(producers[at], attempts[at], Integer.toUnsignedLong(firstBlocks[at]),
                Integer.toUnsignedLong(blocks[at]), 8 * Integer.toUnsignedLong(units[at]), last.get(at));
    }

    /** Forgets the runs, and their memory. */
    void clear() {
        count = 0;
        bytes = 0;
        producers = new long[0];
        attempts = new long[0];
        partitions = new int[0];
        firstBlocks = new int[0];
        blocks = new int[0];
        units = new int[0];
        last.clear();
    }
}
