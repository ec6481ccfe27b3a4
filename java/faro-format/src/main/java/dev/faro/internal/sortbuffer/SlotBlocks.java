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

    private final Arena arena;
    private final int blockSize;
    /** Where the last slot is filled. */
    private final Tail tail;
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

    SlotBlocks(Arena arena, int blockSize, Tail tail) {
        this.arena = arena;
        this.blockSize = blockSize;
        this.tail = tail;
    }

    boolean isEmpty() {
        return first < 0;
    }

    /** The number of slots that a record or event may take. */
    int needed(int length) {
        long bytes = 2L * MARK + Tail.LENGTH + length - (isEmpty() ? 0 : end - tail.at);
        return bytes <= 0 ? 0 : (int) ((bytes + arena.size() - 1) / arena.size());
    }

    /** Adds any record; {@link #needed} slots must be free. */
    void add(ByteBuffer record, long rows) {
        int length = record.remaining();
        if (mark != null && (long) filled() + Tail.LENGTH + length > blockSize) {
            close(BlockKind.DATA);
        }
        if (mark == null) {
            open();
        }
        putLength(length);
        put(record);
        tail.limit = tail.at + Math.max(0, Math.min(blockSize - filled(), end - tail.at));
        tail.records += rows;
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
        return before + tail.at - begin;
    }

    private void open() {
        if (isEmpty() || end - tail.at < MARK) {
            nextSlot();
        }
        mark = memory;
        markAt = tail.at;
        tail.at += MARK;
        before = 0;
        begin = tail.at;
    }

    private void close(int kind) {
        mark.putInt(markAt, filled());
        mark.putInt(markAt + 4, kind);
        mark = null;
        tail.limit = tail.at;
    }

    private void nextSlot() {
        int taken = arena.take();
        if (isEmpty()) {
            first = taken;
        } else {
            before += tail.at - begin;
            arena.end(last, tail.at);
            arena.link(last, taken);
        }
        last = taken;
        memory = arena.memory(taken);
        tail.bytes = memory.bytes;
        begin = arena.begin(taken);
        tail.at = begin;
        end = begin + arena.size();
    }

    private void putLength(int length) {
        if (end - tail.at >= Tail.LENGTH) {
            memory.putInt(tail.at, length);
            tail.at += Tail.LENGTH;
            return;
        }
        for (int i = 0; i < Tail.LENGTH; i++) {
            makeRoom();
            memory.putByte(tail.at++, (byte) (length >>> 8 * i));
        }
    }

    private void put(ByteBuffer record) {
        int to = record.limit();
        int part;
        for (int from = record.position(); from < to; from += part) {
            makeRoom();
            part = Math.min(to - from, end - tail.at);
            record.get(from, memory.bytes, tail.at, part);
            tail.at += part;
        }
    }

    private void makeRoom() {
        if (tail.at == end) {
            nextSlot();
        }
    }

    /** Passes the blocks to the sink. */
    void drain(ExtentSink sink) throws FaroException {
        if (mark != null) {
            close(BlockKind.DATA);
        }
        arena.end(last, tail.at);
        sink.addRecords(tail.records);
        int slot = first;
        int at = arena.begin(slot);
        while (slot >= 0) {
            Memory marked = arena.memory(slot);
            int left = marked.getInt(at);
            int kind = marked.getInt(at + 4);
            at += MARK;
            sink.beginBlock(left, kind);
            do {
                int part = Math.min(left, arena.end(slot) - at);
                sink.addToBlock(arena.memory(slot).view, at, part);
                at += part;
                left -= part;
                if (at == arena.end(slot)) {
                    slot = arena.next(slot);
                    at = slot < 0 ? 0 : arena.begin(slot);
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
        tail.clear();
    }
}
