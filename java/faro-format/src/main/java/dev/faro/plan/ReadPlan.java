package dev.faro.plan;

import java.util.Arrays;

/**
 * Which reads serve the extents that are wanted: neighbours, and those with small gaps between them, become one. Pure
 * planning, without threads and files; offsets and sizes in bytes.
 */
public final class ReadPlan {
    private long[] starts = new long[16];
    private long[] ends = new long[16];
    private int[] behind = new int[16];
    private int size;

    private ReadPlan() {}

    /**
     * Plans reads of extents in order of their beginnings, which may overlap or be the same. An extent is in one read as
     * a whole, so one that is longer than {@code readBytes} makes a longer read.
     *
     * @param extentStarts where each begins, ascending
     * @param extentEnds where each ends
     * @param count of the extents
     * @param gapBytes the largest gap that is read over
     * @param readBytes the length beyond which reads are not made longer
     */
    public static ReadPlan of(long[] extentStarts, long[] extentEnds, int count, long gapBytes, long readBytes) {
        ReadPlan plan = new ReadPlan();
        for (int i = 0; i < count; i++) {
            int last = plan.size - 1;
            long end = last < 0 ? 0 : Math.max(plan.ends[last], extentEnds[i]);
            boolean joins = last >= 0 && extentStarts[i] - plan.ends[last] <= gapBytes
                    && (end == plan.ends[last] || end - plan.starts[last] <= readBytes);
            if (joins) {
                plan.ends[last] = end;
                plan.behind[last] = i + 1;
            } else {
                plan.add(extentStarts[i], extentEnds[i], i + 1);
            }
        }
        return plan;
    }

    private void add(long start, long end, int next) {
        if (size == starts.length) {
            starts = Arrays.copyOf(starts, 2 * size);
            ends = Arrays.copyOf(ends, 2 * size);
            behind = Arrays.copyOf(behind, 2 * size);
        }
        starts[size] = start;
        ends[size] = end;
        behind[size++] = next;
    }

    /** Count of the reads. */
    public int size() {
        return size;
    }

    /** Where a read begins. */
    public long start(int read) {
        return starts[read];
    }

    /** Where a read ends. */
    public long end(int read) {
        return ends[read];
    }

    /** The number of the first extent that a read serves. */
    public int firstExtent(int read) {
        return read == 0 ? 0 : behind[read - 1];
    }

    /** The number behind that of the last extent that a read serves. */
    public int endExtent(int read) {
        return behind[read];
    }

    /** Bytes of all reads, gaps included. */
    public long bytes() {
        long bytes = 0;
        for (int i = 0; i < size; i++) {
            bytes += ends[i] - starts[i];
        }
        return bytes;
    }
}
