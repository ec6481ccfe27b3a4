package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.index.RegionIndex;
import dev.faro.internal.index.Regions;
import dev.faro.internal.message.Directory;
import java.util.function.IntPredicate;

/** The extents of a range of partitions, region by region (PRT-5). */
final class RegionExtents extends Extents {
    private static final int[] NO_SLOTS = {};

    private final Regions regions;
    private Directory directory;
    private BlockReader blocks;
    private final boolean selective;
    private final int from;
    private final int to;

    private int nextRegion;
    private RegionIndex current;
    private int[] stretches = NO_SLOTS;
    private int stretch;
    private int slot;
    private int nextShared;

    RegionExtents(Regions regions, Directory directory, BlockReader blocks, int from, int to, int firstRegion) {
        this.regions = regions;
        this.directory = directory;
        this.blocks = blocks;
        this.selective = regions.header().selective();
        this.from = from;
        this.to = to;
        this.nextRegion = firstRegion;
    }

    /**
     * Goes on with the regions that an output has more now (FOL-7).
     *
     * @param reader reads the blocks from now on
     */
    void goOn(Directory now, BlockReader reader) {
        directory = now;
        blocks = reader;
    }

    @Override
    boolean next() throws FaroException {
        while (!nextOfRegion()) {
            // An empty range reads no region, and so cannot fail with a fault of one (REG-10).
            if (nextRegion == directory.size() || from == to) {
                return false;
            }
            current = regions.get(directory, nextRegion);
            nextRegion++;
            region = current.sequence();
            stretches = current.slotsOf(from, to);
            stretch = 0;
            slot = stretches[0];
            nextShared = 0;
        }
        return true;
    }

    private boolean nextOfRegion() {
        if (current == null) {
            return false;
        }
        while (stretch < stretches.length) {
            int slotEnd = stretches[stretch + 1];
            while (slot < slotEnd) {
                int own = slot++;
                long begin = current.start(own);
                if (begin < current.start(own + 1)) {
                    set(false, current.partitionOf(own), begin, current.start(own + 1), current.start(slotEnd));
                    firstBlock = selective ? current.firstBlock(own) : -1;
                    return true;
                }
            }
            stretch += 2;
            slot = stretch < stretches.length ? stretches[stretch] : 0;
        }
        while (nextShared < current.sharedCount()) {
            int number = nextShared++;
            if (current.nextMember(number, from, to) >= 0) {
                set(true, BlockHeader.NO_PARTITION, current.sharedStart(number), current.sharedEnd(number),
                        current.sharedEnd(number));
                firstBlock = current.sharedFirstBlock(number);
                return true;
            }
        }
        return false;
    }

    @Override
    boolean isFor(int which) {
        return shared ? current.isMember(nextShared - 1, which) : which == partition;
    }

    @Override
    IntPredicate readers() {
        if (!shared) {
            return null;
        }
        RegionIndex region = current;
        int number = nextShared - 1;
        return which -> region.isMember(number, which);
    }

    @Override
    int regionsDone() {
        return nextRegion;
    }

    @Override
    int currentPartition() {
        return to - from == 1 ? from : -1;
    }

    @Override
    BlockReader blocks() {
        return blocks;
    }
}
