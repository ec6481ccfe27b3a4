package dev.faro.internal.index;

import dev.faro.FileHeader;
import dev.faro.index.Streams;
import dev.faro.internal.message.Fields;
import dev.faro.internal.message.TableView;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;

/** The footer's streams (FTR-8). They are hints until a check has compared them with the file (FTR-6). */
public final class FooterStreams implements Streams {
    private final int firstPartition;
    private final IntBuffer next;
    private final IntBuffer missing;
    private final long sharedNext;
    private final long sharedMissing;

    private FooterStreams(int firstPartition, TableView table) {
        this.firstPartition = firstPartition;
        this.next = vector(table, Fields.STREAMS_NEXT);
        this.missing = vector(table, Fields.STREAMS_MISSING);
        this.sharedNext = table.u32(Fields.STREAMS_SHARED_NEXT);
        this.sharedMissing = table.u32(Fields.STREAMS_SHARED_MISSING);
    }

    /**
     * The streams of a footer message that was checked.
     *
     * @param message little-endian, read from 0 to its limit; the streams keep it
     * @return null if the footer has none
     */
    public static FooterStreams of(FileHeader header, ByteBuffer message) {
        TableView table = TableView.root(message).table(Fields.FOOTER_STREAMS);
        return table == null ? null : new FooterStreams(header.firstPartition(), table);
    }

    private static IntBuffer vector(TableView table, int field) {
        ByteBuffer bytes = table.bytes(field, 4);
        return bytes == null ? null : bytes.asIntBuffer();
    }

    /** Checks FTR-8; returns the first fault or null. */
    static String fault(TableView table, FileHeader header) {
        if (!header.selective()) {
            return "FTR-8: streams in a file that is not selective";
        }
        for (int field : new int[] {Fields.STREAMS_NEXT, Fields.STREAMS_MISSING}) {
            if (table.has(field) && table.length(field) != header.partitionCount()) {
                return "FTR-8: streams of " + table.length(field) + " partitions";
            }
        }
        FooterStreams streams = new FooterStreams(header.firstPartition(), table);
        for (int i = 0; streams.missing != null && i < header.partitionCount(); i++) {
            int partition = header.firstPartition() + i;
            if (streams.missing(partition) > streams.next(partition)) {
                return "FTR-8: more missing blocks than there were, of partition " + partition;
            }
        }
        return streams.sharedMissing <= streams.sharedNext ? null
                : "FTR-8: more missing shared blocks than there were";
    }

    /** Whether the file states that a partition had own blocks. */
    public boolean hasOwn() {
        return next != null;
    }

    private long at(IntBuffer values, int partition) {
        return values == null ? 0 : Integer.toUnsignedLong(values.get(partition - firstPartition));
    }

    @Override
    public long next(int partition) {
        return at(next, partition);
    }

    @Override
    public long missing(int partition) {
        return at(missing, partition);
    }

    @Override
    public long sharedNext() {
        return sharedNext;
    }

    @Override
    public long sharedMissing() {
        return sharedMissing;
    }
}
