package dev.faro.internal.sortbuffer;

import dev.faro.FileHeader;
import dev.faro.internal.index.Members;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Copies the records and events of single partitions into slots, of which enough are free. */
final class SlotFiller implements ExtentSink {
    private final FileHeader header;
    private final Slots slots;
    private int target;

    SlotFiller(FileHeader header, Slots slots) {
        this.header = header;
        this.slots = slots;
    }

    @Override
    public void beginOwn(int partition) {
        target = partition - header.firstPartition();
    }

    @Override
    public void beginShared(Members members) {
        throw new IllegalStateException("a shared extent is not moved into slots");
    }

    @Override
    public void record(ByteBuffer source, int at, int length, int kind, long rows) {
        add(source.duplicate(), at, length, kind, rows);
    }

    @Override
    public void records(ByteBuffer source, int from, int to, int count) {
        ByteBuffer record = source.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        int length;
        for (int at = from; at < to; at += 4 + length) {
            length = source.getInt(at);
            add(record, at + 4, length, 0, 1);
        }
    }

    private void add(ByteBuffer record, int at, int length, int kind, long rows) {
        if (!slots.add(target, record.limit(at + length).position(at), kind, rows)) {
            throw new IllegalStateException("too few slots for the records that move");
        }
    }

    @Override
    public void bytes(ByteBuffer source, int from, int to, int count) {
        throw new IllegalStateException("records without lengths are not moved into slots");
    }

    @Override
    public void endExtent() {}
}
