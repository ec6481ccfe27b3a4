package dev.faro.internal.index;

import java.util.Arrays;

/**
 * The extents that one partition reads, in the order of PRT-1, as {@link DirectLookup} found them. Grows by extents that
 * were found, not by what a count says.
 */
public final class FoundExtents {
    private long[] starts = new long[8];
    private int[] units = new int[8];
    private int[] firstBlocks = new int[8];
    /** The region's number, all its bits complemented for a shared extent. */
    private int[] regions = new int[8];
    private int count;
    private long bytes;

    FoundExtents() {}

    void add(int region, boolean shared, long start, long length, long firstBlock) {
        if (count == starts.length) {
            starts = Arrays.copyOf(starts, 2 * count);
            units = Arrays.copyOf(units, 2 * count);
            firstBlocks = Arrays.copyOf(firstBlocks, 2 * count);
            regions = Arrays.copyOf(regions, 2 * count);
        }
        starts[count] = start;
        units[count] = (int) length;
        firstBlocks[count] = (int) firstBlock;
        regions[count++] = shared ? ~region : region;
        bytes += 8 * length;
    }

    /** Count of the extents, each of which has bytes. */
    public int count() {
        return count;
    }

    /** Bytes of all of them, block headers and padding included. */
    public long bytes() {
        return bytes;
    }

    /** Where an extent begins. */
    public long start(int extent) {
        return starts[extent];
    }

    /** Where an extent ends. */
    public long end(int extent) {
        return starts[extent] + 8 * (units[extent] & 0xFFFFFFFFL);
    }

    /** Sequence of its first block; of an own extent only in files with the feature {@code selective}. */
    public long firstBlock(int extent) {
        return firstBlocks[extent] & 0xFFFFFFFFL;
    }

    /** The number of its region. */
    public int region(int extent) {
        return isShared(extent) ? ~regions[extent] : regions[extent];
    }

    /** Whether it is a shared extent. */
    public boolean isShared(int extent) {
        return regions[extent] < 0;
    }
}
