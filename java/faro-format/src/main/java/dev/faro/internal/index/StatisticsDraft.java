package dev.faro.internal.index;

import dev.faro.FileHeader;
import dev.faro.internal.message.MessageBuilder;

/** The statistics of a file that is being written. A vector is allocated when its first value is not zero. */
public final class StatisticsDraft {
    private final FileHeader header;
    private long[] stored;
    private long[] plain;
    private long[] records;
    private long storedToAll;
    private long plainToAll;
    private long recordsToAll;

    /** Makes empty statistics. */
    public StatisticsDraft(FileHeader header) {
        this.header = header;
    }

    /** Adds a committed region. */
    public void add(RegionDraft region) {
        for (int i = 0; i < region.extents(); i++) {
            long storedBytes = region.bytes(i);
            long plainBytes = region.plain(i);
            long count = region.records(i);
            if (i < region.ownExtents()) {
                add(region.partition(i) - header.firstPartition(), storedBytes, plainBytes, count);
            } else if (region.members(i).isAll()) {
                storedToAll += storedBytes;
                plainToAll += plainBytes;
                recordsToAll += count;
            } else {
                addToMembers(region.members(i).bits(), storedBytes, plainBytes, count);
            }
        }
    }

    private void addToMembers(byte[] bits, long storedBytes, long plainBytes, long count) {
        for (int i = 0; i < bits.length; i++) {
            for (int bit = 0; bits[i] != 0 && bit < 8; bit++) {
                if ((bits[i] >> bit & 1) != 0) {
                    add(8 * i + bit, storedBytes, plainBytes, count);
                }
            }
        }
    }

    private void add(int relative, long storedBytes, long plainBytes, long count) {
        stored = add(stored, relative, storedBytes);
        plain = add(plain, relative, plainBytes);
        records = add(records, relative, count);
    }

    private long[] add(long[] values, int relative, long amount) {
        if (amount == 0) {
            return values;
        }
        long[] present = values == null ? new long[header.partitionCount()] : values;
        present[relative] += amount;
        return present;
    }

    /** The counts for the footer message. */
    public MessageBuilder.Counts counts() {
        return new MessageBuilder.Counts(stored, plain, records, storedToAll, plainToAll, recordsToAll);
    }
}
