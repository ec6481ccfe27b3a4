package dev.faro.reader;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.bytes.Grant;
import dev.faro.internal.message.Directory;
import dev.faro.internal.reader.OutputReader;

/**
 * The extents of consecutive partitions, one partition after another (PRT-7), each in the order of PRT-1. As many
 * partitions as fit into a window are read together. A partition that does not fit is read alone, region by region.
 *
 * <p>A whole window is read before its first block is checked. If reading it fails, its partitions are read alone, so
 * that the fault is reported where PRT-3 requires it.
 */
final class PartitionExtents extends Extents {
    /** The number of partitions that are read alone when there is no memory for a table. */
    private static final int ALONE = 64;

    private final OutputReader output;
    private final Directory directory;
    private final BlockReader aloneBlocks;
    private final ExtentWindow window;
    private final Grant tableGrant;
    private final BlockReader windowBlocks;
    private final int to;

    private int currentPartition;
    private ExtentTable table;
    /** The index after the window's last partition. Partitions before {@code aloneEnd} are read alone. */
    private int windowEnd;
    private int aloneEnd;
    private RegionExtents alone;
    private int index;
    private int regionNumber;
    private int nextShared;

    PartitionExtents(OutputReader output, Directory directory, BlockReader aloneBlocks, int from, int to) {
        this.output = output;
        this.directory = directory;
        this.aloneBlocks = aloneBlocks;
        this.window = new ExtentWindow(output.files().data(), output.budget());
        this.tableGrant = new Grant(output.budget());
        this.windowBlocks = output.readers().blocksOf(window);
        this.currentPartition = from - 1;
        this.to = to;
        this.windowEnd = currentPartition;
        this.aloneEnd = currentPartition;
    }

    @Override
    boolean next() throws FaroException {
        while (alone == null ? currentPartition >= windowEnd || !nextInWindow() : !nextAlone()) {
            alone = null;
            if (++currentPartition >= to) {
                return false;
            }
            begin();
        }
        return true;
    }

    /** Begins a partition. */
    private void begin() throws FaroException {
        if (currentPartition >= windowEnd && currentPartition >= aloneEnd) {
            makeWindow();
        }
        if (currentPartition < windowEnd) {
            index = currentPartition - table.from();
            regionNumber = -1;
            nextShared = 0;
        } else {
            int next = currentPartition + 1;
            alone = new RegionExtents(output.regions(), directory, aloneBlocks, currentPartition, next, 0);
        }
    }

    private void makeWindow() throws FaroException {
        aloneEnd = currentPartition + 1;
        try {
            if (table == null || currentPartition >= table.from() + table.count()) {
                makeTable();
            }
            if (table == null) {
                // Not at every partition: a table visits all regions.
                aloneEnd = (int) Math.min(to, currentPartition + (long) ALONE);
                return;
            }
            int first = currentPartition - table.from();
            int count = window.fits(table, first);
            if (count > 0) {
                aloneEnd = currentPartition + count;
                if (window.load(table, first, first + count)) {
                    windowEnd = aloneEnd;
                } else {
                    // Not at every partition: to find out how many fit takes time.
                    aloneEnd = currentPartition + Math.max(1, count / 8);
                }
            }
        } catch (FaroException e) {
            if (e.code() == ErrorCode.IO) {
                throw e;
            }
        }
    }

    private void makeTable() throws FaroException {
        long before = tableGrant.bytes();
        table = null;
        try {
            table = ExtentTable.of(output.regions(), directory, currentPartition, to, tableGrant);
        } finally {
            tableGrant.settle(table == null ? 0 : tableGrant.bytes() - before);
        }
    }

    private boolean nextAlone() throws FaroException {
        if (!alone.next()) {
            return false;
        }
        set(alone.shared, alone.partition, alone.start, alone.end, alone.aheadEnd);
        firstBlock = alone.firstBlock;
        region = alone.region;
        return true;
    }

    private boolean nextInWindow() {
        while (true) {
            // The shared extents of a region come after the own extent; nextShared counts over all regions.
            int sharedEnd = table.sharedBegin(regionNumber + 1);
            while (nextShared < sharedEnd) {
                ExtentTable.Shared extent = table.shared(nextShared++);
                if (extent.isFor(index)) {
                    set(true, BlockHeader.NO_PARTITION, extent.start(), extent.end(), extent.end());
                    firstBlock = extent.firstBlock();
                    return true;
                }
            }
            if (++regionNumber == table.regions()) {
                return false;
            }
            region = regionNumber;
            long bytes = table.bytes(regionNumber, index);
            if (bytes > 0) {
                long begin = table.start(regionNumber, index);
                set(false, currentPartition, begin, begin + bytes, begin + bytes);
                firstBlock = table.firstBlock(regionNumber, index);
                return true;
            }
        }
    }

    @Override
    boolean isFor(int which) {
        return which == currentPartition;
    }

    @Override
    int currentPartition() {
        return currentPartition;
    }

    @Override
    void release() {
        table = null;
        try {
            tableGrant.settle(0);
        } finally {
            windowBlocks.release();
        }
    }

    @Override
    BlockReader blocks() {
        return alone == null ? windowBlocks : aloneBlocks;
    }
}
