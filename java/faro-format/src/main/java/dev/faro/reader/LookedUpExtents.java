package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.index.DirectLookup;
import dev.faro.internal.index.FoundExtents;

/**
 * The extents of one partition by direct lookup. All regions are looked up before the first extent is read, also those
 * before the one that reading begins at, without which there is no sum to check (LKP-3).
 */
final class LookedUpExtents extends Extents {
    private final DirectLookup lookup;
    private final BlockReader blocks;
    private final boolean selective;
    private final int asked;
    private final int firstRegion;

    private FoundExtents found;
    private int next;

    LookedUpExtents(DirectLookup lookup, BlockReader blocks, boolean selective, int partition, int firstRegion) {
        this.lookup = lookup;
        this.blocks = blocks;
        this.selective = selective;
        this.asked = partition;
        this.firstRegion = firstRegion;
    }

    @Override
    boolean next() throws FaroException {
        if (found == null) {
            found = lookup.find(asked);
            while (next < found.count() && found.region(next) < firstRegion) {
                next++;
            }
        }
        if (next == found.count()) {
            return false;
        }
        boolean isShared = found.isShared(next);
        set(isShared, isShared ? BlockHeader.NO_PARTITION : asked, found.start(next), found.end(next), found.end(next));
        firstBlock = isShared || selective ? found.firstBlock(next) : -1;
        region = found.region(next);
        next++;
        return true;
    }

    @Override
    boolean isFor(int which) {
        return which == asked;
    }

    @Override
    int turn() {
        return asked;
    }

    @Override
    BlockReader blocks() {
        return blocks;
    }
}
