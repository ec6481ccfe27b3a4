package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.index.DirectLookup;
import dev.faro.internal.index.FoundExtents;
import java.util.function.IntPredicate;

/**
 * The extents of one partition by direct lookup. All regions are looked up before the first extent is read, even those
 * before the first region to read, because LKP-3 checks the sum over all regions.
 */
final class LookedUpExtents extends Extents {
    private final DirectLookup lookup;
    private final BlockReader blocks;
    private final boolean selective;
    private final int wanted;
    private final int firstRegion;

    private FoundExtents found;
    private int next;

    LookedUpExtents(DirectLookup lookup, BlockReader blocks, boolean selective, int partition, int firstRegion) {
        this.lookup = lookup;
        this.blocks = blocks;
        this.selective = selective;
        this.wanted = partition;
        this.firstRegion = firstRegion;
    }

    @Override
    boolean next() throws FaroException {
        if (found == null) {
            found = lookup.find(wanted);
            while (next < found.count() && found.region(next) < firstRegion) {
                next++;
            }
        }
        if (next == found.count()) {
            return false;
        }
        boolean isShared = found.isShared(next);
        int partition = isShared ? BlockHeader.NO_PARTITION : wanted;
        set(isShared, partition, found.start(next), found.end(next), found.end(next));
        firstBlock = isShared || selective ? found.firstBlock(next) : -1;
        region = found.region(next);
        next++;
        return true;
    }

    @Override
    boolean isFor(int which) {
        return which == wanted;
    }

    @Override
    IntPredicate readers() {
        return this::isFor;
    }

    @Override
    int regionsDone() {
        return found == null ? 0 : lookup.regions();
    }

    @Override
    int currentPartition() {
        return wanted;
    }

    @Override
    BlockReader blocks() {
        return blocks;
    }
}
