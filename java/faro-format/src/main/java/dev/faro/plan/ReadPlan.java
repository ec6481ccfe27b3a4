package dev.faro.plan;

import java.util.Arrays;

/**
 * The reads that serve a list of extents. Extents that are adjacent, or have small gaps between them, share a read.
 * Only planning: no threads and no files. Offsets and sizes are in bytes.
 */
public final class ReadPlan {
    private long[] starts = new long[16];
    private long[] ends = new long[16];
    private int[] extentEnd = new int[16];
    private int size;

    private ReadPlan() {}

    /**
     * Plans reads of extents that are sorted by start; they may overlap or be equal. Each extent is in one read as a
     * whole, so an extent longer than {@code readBytes} makes a longer read.
     *
     * @param extentStarts the start of each extent, ascending
     * @param extentEnds the end of each extent
     * @param count the number of extents
     * @param gapBytes the largest gap inside a read
     * @param readBytes a read grows by another extent only up to this length
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
                plan.extentEnd[last] = i + 1;
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
            extentEnd = Arrays.copyOf(extentEnd, 2 * size);
        }
        starts[size] = start;
        ends[size] = end;
        extentEnd[size++] = next;
    }

    /** The number of reads. */
    public int size() {
        return size;
    }

    /** The offset of a read. */
    public long start(int read) {
        return starts[read];
    }

    /** The offset after a read. */
    public long end(int read) {
        return ends[read];
    }

    /** The index of the first extent in a read. */
    public int firstExtent(int read) {
        return read == 0 ? 0 : extentEnd[read - 1];
    }

    /** The index after the last extent in a read. */
    public int endExtent(int read) {
        return extentEnd[read];
    }

    /** The size of all reads in bytes, with gaps. */
    public long bytes() {
        long bytes = 0;
        for (int i = 0; i < size; i++) {
            bytes += ends[i] - starts[i];
        }
        return bytes;
    }
}
