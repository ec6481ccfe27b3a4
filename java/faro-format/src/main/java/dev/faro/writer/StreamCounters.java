package dev.faro.writer;

import dev.faro.FileHeader;
import dev.faro.internal.index.PartitionCounters;
import dev.faro.internal.index.RegionDraft;
import dev.faro.internal.message.MessageBuilder;

/**
 * For each stream, the sequence of its next block and the number of blocks that are missing below it, after the committed
 * regions.
 */
final class StreamCounters {
    private final FileHeader header;
    private final PartitionCounters own = new PartitionCounters();
    private final PartitionCounters ownMissing = new PartitionCounters();
    private long shared;
    private long sharedMissing;

    StreamCounters(FileHeader header) {
        this.header = header;
    }

    /** The sequence of the next own block of a partition. */
    long next(int partition) {
        return own.get(partition);
    }

    /** The sequence of the next shared block. */
    long sharedNext() {
        return shared;
    }

    /** Adds the blocks of a region. */
    void commit(RegionDraft region) {
        for (int i = 0; i < region.extents(); i++) {
            long blocks = region.blocks(i);
            if (blocks == 0) {
                continue;
            }
            if (i < region.ownExtents()) {
                advance(region.partition(i), region.next(i), blocks);
            } else {
                sharedMissing += region.next(i) - shared - blocks;
                shared = region.next(i);
            }
        }
    }

    /** Says that all blocks of a partition below a sequence were written or consumed. */
    void skipTo(int partition, long sequence) {
        advance(partition, sequence, 0);
    }

    /** Says that all shared blocks below a sequence were written or consumed. */
    void skipSharedTo(long sequence) {
        sharedMissing += sequence - shared;
        shared = sequence;
    }

    private void advance(int partition, long next, long blocks) {
        long gaps = next - own.get(partition) - blocks;
        if (gaps > 0) {
            ownMissing.set(partition, ownMissing.get(partition) + gaps);
        }
        own.set(partition, next);
    }

    /** The streams for the footer message; null unless the file is selective. */
    MessageBuilder.StreamCounts counts() {
        return !header.selective() ? null
                : new MessageBuilder.StreamCounts(vector(own), vector(ownMissing), (int) shared, (int) sharedMissing);
    }

    private int[] vector(PartitionCounters counters) {
        if (counters.isEmpty()) {
            return null;
        }
        int[] values = new int[header.partitionCount()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (int) counters.get(header.firstPartition() + i);
        }
        return values;
    }
}
