package dev.faro.internal.index;

import java.util.Arrays;

/**
 * The extents that one partition reads, in the order of PRT-1, as {@link DirectLookup} found them. It grows with each
 * extent that is found, and never by a count from the file.
 */
public final class FoundExtents {
    private long[] starts = new long[8];
    private int[] units = new int[8];
    private int[] firstBlocks = new int[8];
    /** The number of the region; for a shared extent, the complement of its bits. */
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

    /** The number of extents. None of them is empty. */
    public int count() {
        return count;
    }

    /** The size of all extents in bytes, with block headers and padding. */
    public long bytes() {
        return bytes;
    }

    /** The offset of an extent. */
    public long start(int extent) {
        return starts[extent];
    }

    /** The offset after an extent. */
    public long end(int extent) {
        return starts[extent] + 8 * (units[extent] & 0xFFFFFFFFL);
    }

    /** The sequence of an extent's first block. For own extents only in files with the feature {@code selective}. */
    public long firstBlock(int extent) {
        return firstBlocks[extent] & 0xFFFFFFFFL;
    }

    /** The number of an extent's region. */
    public int region(int extent) {
        return isShared(extent) ? ~regions[extent] : regions[extent];
    }

    /** Whether an extent is shared. */
    public boolean isShared(int extent) {
        return regions[extent] < 0;
    }
}
