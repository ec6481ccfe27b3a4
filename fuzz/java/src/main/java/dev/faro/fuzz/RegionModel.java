package dev.faro.fuzz;

import dev.faro.FaroException;
import dev.faro.internal.message.MessageBuilder;
import java.util.ArrayList;
import java.util.List;

/** A model of a region that {@code rebuild} makes (REP-6), to compute the size of its message. */
final class RegionModel {
    private static final long SHARED = 0xFFFFFFFFL;
    private static final byte[] NO_MEMBERS = {};

    private final long begin;
    private final List<Extent> extents = new ArrayList<>();

    private static final class Extent {
        final long partition;
        final int firstBlock;
        int units;

        Extent(long partition, long firstBlock) {
            this.partition = partition;
            this.firstBlock = (int) firstBlock;
        }
    }

    RegionModel(long begin) {
        this.begin = begin;
    }

    long begin() {
        return begin;
    }

    boolean isEmpty() {
        return extents.isEmpty();
    }

    /** Whether a block of a partition begins another region. Shared blocks have a number above all partitions. */
    boolean endsBefore(long partition) {
        return !isEmpty() && partition < extents.get(extents.size() - 1).partition;
    }

    void add(long partition, long sequence, long bytes) {
        if (isEmpty() || extents.get(extents.size() - 1).partition != partition) {
            extents.add(new Extent(partition, sequence));
        }
        extents.get(extents.size() - 1).units += (int) (bytes / 8);
    }

    /** The size of the region's message in bytes, dense or sparse by SRT-8. */
    int messageSize(int number, long first, int count, boolean selective) throws FaroException {
        List<Extent> own = extents.stream().filter(extent -> extent.partition != SHARED).toList();
        boolean sparse = 2L * own.size() + 1 < count;
        int slots = sparse ? own.size() : count;
        int[] offsets = new int[slots + 1];
        int[] partitions = new int[slots];
        int[] firstBlocks = new int[slots];
        long units = 0;
        for (int i = 0; i < own.size(); i++) {
            Extent extent = own.get(i);
            int slot = sparse ? i : (int) (extent.partition - first);
            partitions[slot] = (int) extent.partition;
            firstBlocks[slot] = extent.firstBlock;
            offsets[slot + 1] = extent.units;
        }
        for (int slot = 0; slot < slots; slot++) {
            offsets[slot + 1] += offsets[slot];
        }
        List<MessageBuilder.Shared> shared = new ArrayList<>();
        for (Extent extent : extents) {
            units += extent.units;
            if (extent.partition == SHARED) {
                shared.add(new MessageBuilder.Shared(extent.units, NO_MEMBERS, extent.firstBlock));
            }
        }
        return MessageBuilder.region(number, begin, 8 * units, offsets, 0, sparse ? partitions : null, shared,
                selective ? firstBlocks : null).limit();
    }
}
