package dev.faro.internal.sortbuffer;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import java.nio.ByteBuffer;

/**
 * The records and events of one partition in a chain of slots, divided into the blocks of the file (SRT-6). A mark
 * before each block has its size and kind. It is never in two slots: a slot without room for one ends early.
 */
final class SlotBlocks {
    /** The size of a mark in bytes. With a record's length it is what SRT-1 charges besides the record's bytes. */
    private static final int MARK = 8;

    private final Slots slots;
    private final int blockSize;
    /** Where the last slot is filled. */
    private final SlotStream stream;
    private int first = -1;
    private int last;
    private Memory memory;
    /** The index where the last slot ends. */
    private int end;
    /** The memory with the mark of the open block; null if no block is open. */
    private Memory mark;
    private int markAt;
    /** The bytes of the open block in slots before the last, and where those in the last begin. */
    private int before;
    private int begin;

    SlotBlocks(Slots slots, int blockSize, SlotStream stream) {
        this.slots = slots;
        this.blockSize = blockSize;
        this.stream = stream;
    }

    boolean isEmpty() {
        return first < 0;
    }

    /** The number of slots that a record or event may take. */
    int needed(int length) {
        long bytes = 2L * MARK + SlotStream.LENGTH + length - (isEmpty() ? 0 : end - stream.at);
        return bytes <= 0 ? 0 : (int) ((bytes + slots.size() - 1) / slots.size());
    }

    /** Adds any record; {@link #needed} slots must be free. */
    void add(ByteBuffer record, long rows) {
        int length = record.remaining();
        if (mark != null && (long) filled() + SlotStream.LENGTH + length > blockSize) {
            close(BlockKind.DATA);
        }
        if (mark == null) {
            open();
        }
        putLength(length);
        put(record);
        stream.limit = stream.at + Math.max(0, Math.min(blockSize - filled(), end - stream.at));
        stream.records += rows;
    }

    /** Adds an event, which is a block; {@link #needed} slots must be free. */
    void addEvent(ByteBuffer event, int kind) {
        if (mark != null) {
            close(BlockKind.DATA);
        }
        open();
        put(event);
        close(kind);
    }

    private int filled() {
        return before + stream.at - begin;
    }

    private void open() {
        if (isEmpty() || end - stream.at < MARK) {
            nextSlot();
        }
        mark = memory;
        markAt = stream.at;
        stream.at += MARK;
        before = 0;
        begin = stream.at;
    }

    private void close(int kind) {
        mark.putInt(markAt, filled());
        mark.putInt(markAt + 4, kind);
        mark = null;
        stream.limit = stream.at;
    }

    private void nextSlot() {
        int taken = slots.take();
        if (isEmpty()) {
            first = taken;
        } else {
            before += stream.at - begin;
            slots.end(last, stream.at);
            slots.link(last, taken);
        }
        last = taken;
        memory = slots.memory(taken);
        stream.bytes = memory.bytes;
        begin = slots.begin(taken);
        stream.at = begin;
        end = begin + slots.size();
    }

    private void putLength(int length) {
        if (end - stream.at >= SlotStream.LENGTH) {
            memory.putInt(stream.at, length);
            stream.at += SlotStream.LENGTH;
            return;
        }
        for (int i = 0; i < SlotStream.LENGTH; i++) {
            makeRoom();
            memory.putByte(stream.at++, (byte) (length >>> 8 * i));
        }
    }

    private void put(ByteBuffer record) {
        int to = record.limit();
        int part;
        for (int from = record.position(); from < to; from += part) {
            makeRoom();
            part = Math.min(to - from, end - stream.at);
            record.get(from, memory.bytes, stream.at, part);
            stream.at += part;
        }
    }

    private void makeRoom() {
        if (stream.at == end) {
            nextSlot();
        }
    }

    /** Passes the blocks to the sink. */
    void drain(ExtentSink sink) throws FaroException {
        if (mark != null) {
            close(BlockKind.DATA);
        }
        slots.end(last, stream.at);
        sink.addRecords(stream.records);
        int slot = first;
        int at = slots.begin(slot);
        while (slot >= 0) {
            Memory marked = slots.memory(slot);
            int left = marked.getInt(at);
            int kind = marked.getInt(at + 4);
            at += MARK;
            sink.beginBlock(left, kind);
            do {
                int part = Math.min(left, slots.end(slot) - at);
                sink.addToBlock(slots.memory(slot).view, at, part);
                at += part;
                left -= part;
                if (at == slots.end(slot)) {
                    slot = slots.next(slot);
                    at = slot < 0 ? 0 : slots.begin(slot);
                }
            } while (left > 0);
            sink.endBlock(kind);
        }
    }

    /** Removes everything. */
    void clear() {
        first = -1;
        memory = null;
        mark = null;
        stream.clear();
    }
}
