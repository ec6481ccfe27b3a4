package dev.faro.internal.index;

import dev.faro.FileHeader;
import dev.faro.index.Statistics;
import dev.faro.internal.message.Fields;
import dev.faro.internal.message.TableView;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;

/** The footer's statistics (FTR-4). They are hints until a check has compared them with the file (FTR-6). */
public final class FooterStatistics implements Statistics {
    private final int firstPartition;
    private final LongBuffer stored;
    private final LongBuffer plain;
    private final LongBuffer records;
    private final long storedToAll;
    private final long plainToAll;
    private final long recordsToAll;

    private FooterStatistics(int firstPartition, TableView table) {
        this.firstPartition = firstPartition;
        this.stored = vector(table, Fields.STATISTICS_STORED);
        this.plain = vector(table, Fields.STATISTICS_PLAIN);
        this.records = vector(table, Fields.STATISTICS_RECORDS);
        this.storedToAll = table.u64(Fields.STATISTICS_STORED_TO_ALL);
        this.plainToAll = table.u64(Fields.STATISTICS_PLAIN_TO_ALL);
        this.recordsToAll = table.u64(Fields.STATISTICS_RECORDS_TO_ALL);
    }

    /**
     * The statistics of a footer message that was checked, or that this library has built.
     *
     * @param message little-endian, read from 0 to its limit; the statistics keep it
     * @return null if the footer has none
     */
    public static FooterStatistics of(FileHeader header, ByteBuffer message) {
        TableView table = TableView.root(message).table(Fields.FOOTER_STATISTICS);
        return table == null ? null : new FooterStatistics(header.firstPartition(), table);
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

    @Override
    public long storedToAll() {
        return storedToAll;
    }

    @Override
    public long plainToAll() {
        return plainToAll;
    }

    @Override
    public long recordsToAll() {
        return recordsToAll;
    }

    /** Whether the stored bytes of each partition equal those that were counted. */
    public boolean storedIs(Counter counted) {
        return counted.is(stored, storedToAll);
    }

    /** Whether the plain bytes of each partition equal those that were counted. */
    public boolean plainIs(Counter counted) {
        return counted.is(plain, plainToAll);
    }

    /** Whether the records of each partition equal those that were counted. */
    public boolean recordsIs(Counter counted) {
        return counted.is(records, recordsToAll);
    }

    /** Makes a counter for {@link #storedIs}. */
    public Counter storedCounter() {
        return new Counter(stored);
    }

    /** Makes a counter for {@link #plainIs}. */
    public Counter plainCounter() {
        return new Counter(plain);
    }

    /** Makes a counter for {@link #recordsIs}. */
    public Counter recordsCounter() {
        return new Counter(records);
    }

    /**
     * Counts one kind of statistics again. Its memory is proportional to a vector of the file. If the file has no
     * vector, all counts must be zero, and one bit records whether they are.
     */
    public static final class Counter {
        private final long[] each;
        private boolean nonZero;
        private long toAll;

        private Counter(LongBuffer values) {
            this.each = values == null ? null : new long[values.limit()];
        }

        /** Adds to one partition; {@code relative} is its number minus the first partition. */
        public void add(int relative, long amount) {
            if (each == null) {
                nonZero |= amount != 0;
            } else {
                each[relative] += amount;
            }
        }

        /** Adds to every partition. */
        public void addToAll(long amount) {
            toAll += amount;
        }

        private boolean is(LongBuffer values, long valueToAll) {
            return !nonZero && toAll == valueToAll && (each == null || LongBuffer.wrap(each).equals(values));
        }
    }
}
