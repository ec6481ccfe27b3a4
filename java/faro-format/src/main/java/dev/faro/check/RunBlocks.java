package dev.faro.check;

import dev.faro.index.Run;
import dev.faro.internal.index.RegionIndex;

/** Checks that the runs of a region hold whole blocks, as many as they say (MRG-3). Takes the blocks in slot order. */
final class RunBlocks {
    private final RegionIndex region;
    private int next;
    private long end;
    private long blocks;
    private String fault;

    RunBlocks(RegionIndex region) {
        this.region = region;
        this.end = region.dataOffset();
        advance();
    }

    private void advance() {
        if (next < region.runCount()) {
            end += region.run(next).length();
        }
    }

    /** Takes a block that passed its checks. */
    void add(long blockEnd) {
        blocks++;
        while (next < region.runCount() && end <= blockEnd) {
            Run run = region.run(next);
            if (fault == null && (blocks != run.blocks() || end != blockEnd)) {
                fault = blocks + " blocks up to " + blockEnd + " in a run of " + run.blocks() + " that ends at " + end;
            }
            blocks = 0;
            next++;
            advance();
        }
    }

    /** The first fault, or null. Asked after the last block of an extent: the faults of blocks come before. */
    String fault() {
        return fault;
    }
}
