package dev.faro.sortbuffer;

import dev.faro.FaroException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A part of the sort buffer that fits into a processor's cache: records in the order of their calls, brought into the
 * order of their targets when the part is full, so that later each part is read in sequence.
 *
 * <p>An entry is three numbers: target, position, length. An event has the highest bit of its length set and its kind
 * in the byte before its bytes; a record that counts as other than one row has the highest bit of its position set and
 * its rows in the 8 bytes before.
 */
final class Run {
    private static final int EVENT = 0x8000_0000;
    private static final int ROWS = 0x8000_0000;
    private static final int ENTRY = 3;
    private static final int DIGIT = 1 << 16;
    /** From this average length on, records stay where they are when the part is sorted. */
    private static final int LARGE = 4 << 10;

    private ByteBuffer bytes;
    private int used;
    private int[] entries = new int[ENTRY * 256];
    private int count;
    private int next;

    /** Memory that sorting needs; one for all parts of a buffer. */
    static final class Scratch {
        private ByteBuffer bytes = ByteBuffer.allocate(0);
        private int[] entries = {};
        private int[] order = {};
        private int[] ordered = {};
        private final int[] counters = new int[DIGIT + 1];

        private void grow(int count) {
            if (order.length < count) {
                order = new int[count];
                ordered = new int[count];
            }
        }
    }

    Run(int capacity) {
        this.bytes = allocate(capacity);
    }

    private static ByteBuffer allocate(int capacity) {
        return ByteBuffer.allocate(capacity).order(ByteOrder.LITTLE_ENDIAN);
    }

    void clear() {
        used = 0;
        count = 0;
    }

    int capacity() {
        return bytes.capacity();
    }

    /** Whether a record still fits, entries counted as they are charged. */
    boolean fits(int length) {
        return (long) used + length + 8 + 12L * (count + 1) <= bytes.capacity();
    }

    void add(int target, ByteBuffer record, int kind, long rows) {
        int length = record.remaining();
        int position = used;
        int flag = 0;
        if (kind != 0) {
            bytes.put(position++, (byte) kind);
            flag = EVENT;
        }
        boolean counts = kind == 0 && rows != 1;
        if (counts) {
            bytes.putLong(position, rows);
            position += 8;
        }
        bytes.put(position, record, record.position(), length);
        used = position + length;
        if (ENTRY * count == entries.length) {
            entries = Arrays.copyOf(entries, 2 * entries.length);
        }
        int at = ENTRY * count++;
        entries[at] = target;
        entries[at + 1] = counts ? position | ROWS : position;
        entries[at + 2] = length | flag;
    }

    /** Sorts by target, keeping the order of calls: one or two passes of counting by 16 bits. */
    void sort(int targets, Scratch scratch) {
        scratch.grow(count);
        for (int i = 0; i < count; i++) {
            scratch.order[i] = i;
        }
        pass(scratch, Math.min(targets, DIGIT), 0);
        if (targets > DIGIT) {
            pass(scratch, (targets - 1 >>> 16) + 1, 16);
        }
        move(scratch);
        next = 0;
    }

    private void pass(Scratch scratch, int digits, int shift) {
        int[] counters = scratch.counters;
        Arrays.fill(counters, 0, digits + 1, 0);
        for (int i = 0; i < count; i++) {
            counters[(entries[ENTRY * i] >>> shift & DIGIT - 1) + 1]++;
        }
        for (int i = 1; i <= digits; i++) {
            counters[i] += counters[i - 1];
        }
        for (int i = 0; i < count; i++) {
            int entry = scratch.order[i];
            scratch.ordered[counters[entries[ENTRY * entry] >>> shift & DIGIT - 1]++] = entry;
        }
        int[] ordered = scratch.ordered;
        scratch.ordered = scratch.order;
        scratch.order = ordered;
    }

    /** Puts the entries, and the records unless they are large, into the order that was found. */
    private void move(Scratch scratch) {
        boolean records = count > 1 && used / count < LARGE;
        if (records && scratch.bytes.capacity() < bytes.capacity()) {
            scratch.bytes = allocate(bytes.capacity());
        }
        if (scratch.entries.length < entries.length) {
            scratch.entries = new int[entries.length];
        }
        byte[] source = bytes.array();
        byte[] target = scratch.bytes.array();
        int[] moved = scratch.entries;
        int end = 0;
        for (int i = 0; i < count; i++) {
            int from = ENTRY * scratch.order[i];
            int at = ENTRY * i;
            int position = entries[from + 1];
            moved[at] = entries[from];
            moved[at + 2] = entries[from + 2];
            if (records) {
                int prefix = position < 0 ? 8 : entries[from + 2] < 0 ? 1 : 0;
                int length = prefix + (entries[from + 2] & ~EVENT);
                System.arraycopy(source, (position & ~ROWS) - prefix, target, end, length);
                position = end + prefix | position & ROWS;
                end += length;
            }
            moved[at + 1] = position;
        }
        scratch.entries = entries;
        entries = moved;
        if (records) {
            ByteBuffer free = bytes;
            bytes = scratch.bytes;
            scratch.bytes = free;
        }
    }

    /** Goes to the first entry whose target is not below a number. */
    void seek(int target) {
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (entries[ENTRY * middle] < target) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        next = low;
    }

    /** The target of the next entry, or the largest int behind the last. */
    int target() {
        return next < count ? entries[ENTRY * next] : Integer.MAX_VALUE;
    }

    /** Passes over the entries of a target; says whether any of them leaves bytes or an event. */
    boolean skip(int target) {
        boolean any = false;
        while (target() == target) {
            any |= entries[ENTRY * next++ + 2] != 0;
        }
        return any;
    }

    /** Hands the entries of a target over. */
    void drain(int target, ExtentSink sink) throws FaroException {
        while (target() == target) {
            int at = ENTRY * next++;
            int position = entries[at + 1] & ~ROWS;
            int length = entries[at + 2] & ~EVENT;
            int kind = entries[at + 2] < 0 ? bytes.get(position - 1) & 0xFF : 0;
            long rows = entries[at + 1] < 0 ? bytes.getLong(position - 8) : 1;
            sink.record(bytes, position, length, kind, rows);
        }
    }
}
