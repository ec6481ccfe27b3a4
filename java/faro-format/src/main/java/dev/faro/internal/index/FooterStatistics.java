package dev.faro.internal.index;

import dev.faro.index.Statistics;
import dev.faro.internal.message.Fields;
import dev.faro.internal.message.TableView;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;

/** The footer's statistics (FTR-4): hints until a check compared them with the file (FTR-6). */
public final class FooterStatistics implements Statistics {
    private final int firstPartition;
    private final LongBuffer stored;
    private final LongBuffer plain;
    private final LongBuffer records;
    private final long storedToAll;
    private final long plainToAll;
    private final long recordsToAll;

    FooterStatistics(int firstPartition, TableView table) {
        this.firstPartition = firstPartition;
        this.stored = vector(table, Fields.STATISTICS_STORED);
        this.plain = vector(table, Fields.STATISTICS_PLAIN);
        this.records = vector(table, Fields.STATISTICS_RECORDS);
        this.storedToAll = table.u64(Fields.STATISTICS_STORED_TO_ALL);
        this.plainToAll = table.u64(Fields.STATISTICS_PLAIN_TO_ALL);
        this.recordsToAll = table.u64(Fields.STATISTICS_RECORDS_TO_ALL);
    }

    private static LongBuffer vector(TableView table, int field) {
        ByteBuffer bytes = table.bytes(field, 8);
        return bytes == null ? null : bytes.asLongBuffer();
    }

    private long at(LongBuffer values, int partition) {
        return values == null ? 0 : values.get(partition - firstPartition);
    }

    @Override
    public long stored(int partition) {
        return at(stored, partition) + storedToAll;
    }

    @Override
    public long plain(int partition) {
        return at(plain, partition) + plainToAll;
    }

    @Override
    public long records(int partition) {
        return at(records, partition) + recordsToAll;
    }

    /** Whether the stored bytes, partition by partition, are those that were counted. */
    public boolean storedIs(Counter counted) {
        return counted.is(stored, storedToAll);
    }

    /** Whether the plain bytes, partition by partition, are those that were counted. */
    public boolean plainIs(Counter counted) {
        return counted.is(plain, plainToAll);
    }

    /** Whether the records, partition by partition, are those that were counted. */
    public boolean recordsIs(Counter counted) {
        return counted.is(records, recordsToAll);
    }

    /** A counter for what {@link #storedIs} compares. */
    public Counter storedCounter() {
        return new Counter(stored);
    }

    /** A counter for what {@link #plainIs} compares. */
    public Counter plainCounter() {
        return new Counter(plain);
    }

    /** A counter for what {@link #recordsIs} compares. */
    public Counter recordsCounter() {
        return new Counter(records);
    }

    /**
     * Counts one kind of statistics anew. It takes memory in proportion to a vector of the file only: where the file
     * has none, all must be zero, and one bit remembers whether they are.
     */
    public static final class Counter {
        private final long[] each;
        private boolean surplus;
        private long toAll;

        private Counter(LongBuffer values) {
            this.each = values == null ? null : new long[values.limit()];
        }

        /** Counts for one partition, whose number is relative to the first. */
        public void add(int relative, long amount) {
            if (each == null) {
                surplus |= amount != 0;
            } else {
                each[relative] += amount;
            }
        }

        /** Counts for every partition. */
        public void addToAll(long amount) {
            toAll += amount;
        }

        private boolean is(LongBuffer values, long valueToAll) {
            return !surplus && toAll == valueToAll && (each == null || LongBuffer.wrap(each).equals(values));
        }
    }
}
