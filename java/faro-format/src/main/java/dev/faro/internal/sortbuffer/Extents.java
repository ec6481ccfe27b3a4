package dev.faro.internal.sortbuffer;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Framing;
import dev.faro.internal.index.RegionDraft;
import java.util.List;

/**
 * The extents of the records in a sort buffer, in the order of the file (SRT-7). Records in piles come before those in
 * parts; with slots, records of single partitions are nowhere else.
 */
final class Extents {
    private final FileHeader header;
    private final SharedTargets shared;
    private final Piles piles;
    private final List<? extends SortedPart> parts;
    private final Slots slots;

    /**
     * Makes a view of the records.
     *
     * @param piles null if there are none
     * @param parts the sorted parts
     * @param slots null if there are none
     */
    Extents(FileHeader header, SharedTargets shared, Piles piles, List<? extends SortedPart> parts, Slots slots) {
        this.header = header;
        this.shared = shared;
        this.piles = piles;
        this.parts = parts;
        this.slots = slots;
    }

    /** Passes all records to the sink; {@code rotation} is where a dense region begins. */
    void drain(int rotation, ExtentSink sink) throws FaroException {
        int count = header.partitionCount();
        if (rotation > 0 && !RegionDraft.isSparse(withBlocks(), count)) {
            drainOwn(rotation, count, sink);
            drainOwn(0, rotation, sink);
        } else {
            drainOwn(sink);
        }
        drain(count, count + shared.size(), sink);
    }

    /** Passes the records of single partitions to the sink. */
    void drainOwn(ExtentSink sink) throws FaroException {
        drainOwn(0, header.partitionCount(), sink);
    }

    /** Whether any extent leaves a block in the file with framing opaque (SRT-3). */
    boolean leaveBlocks() {
        seek(0);
        boolean any = false;
        for (int target = lowest(); target < Integer.MAX_VALUE && !any; target = lowest()) {
            any = skip(target);
        }
        return any;
    }

    /** Skips the records of a target; returns whether they leave a block with framing opaque. */
    private boolean skip(int target) {
        boolean any = piles != null && piles.skip(target);
        for (SortedPart part : parts) {
            any |= part.skip(target);
        }
        return any;
    }

    private int withBlocks() {
        if (slots != null) {
            return slots.extents();
        }
        int extents = 0;
        seek(0);
        for (int target = lowest(); target < header.partitionCount(); target = lowest()) {
            // Only with framing opaque a record without bytes leaves nothing (WRT-2).
            extents += skip(target) || header.framing() != Framing.OPAQUE ? 1 : 0;
        }
        return extents;
    }

    private void drainOwn(int from, int to, ExtentSink sink) throws FaroException {
        if (slots == null) {
            drain(from, to, sink);
            return;
        }
        for (int target = from; target < to; target++) {
            if (slots.has(target)) {
                sink.beginOwn(header.firstPartition() + target);
                slots.drain(target, sink);
                sink.endExtent();
            }
        }
    }

    private void drain(int from, int to, ExtentSink sink) throws FaroException {
        seek(from);
        for (int target = lowest(); target < to; target = lowest()) {
            if (target < header.partitionCount()) {
                sink.beginOwn(header.firstPartition() + target);
            } else {
                sink.beginShared(shared.get(target - header.partitionCount()));
            }
            if (piles != null) {
                piles.drain(target, sink);
            }
            for (SortedPart part : parts) {
                part.drain(target, sink);
            }
            sink.endExtent();
        }
    }

    private void seek(int target) {
        if (piles != null) {
            piles.seek(target);
        }
        for (SortedPart part : parts) {
            part.seek(target);
        }
    }

    private int lowest() {
        int lowest = piles == null ? Integer.MAX_VALUE : piles.target();
        for (SortedPart part : parts) {
            lowest = Math.min(lowest, part.target());
        }
        return lowest;
    }
}
