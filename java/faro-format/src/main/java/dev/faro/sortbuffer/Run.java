package dev.faro.sortbuffer;

import dev.faro.FaroException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A part of the sort buffer that fits into a processor's cache: records in the order of their calls, sorted stably by
 * target when the part is full, so that each part is later read nearly in sequence.
 *
 * <p>An entry is three numbers: target, position, length. An event has the highest bit of its length set and its kind
 * in the byte before its bytes; a record that counts as other than one row has the highest bit of its position set and
 * its rows in the 8 bytes before.
 */
final class Run {
    static final int EVENT = 0x8000_0000;
    static final int ROWS = 0x8000_0000;

    private static final int ENTRY = 3;
    private static final int DIGIT = 1 << 16;

    private final ByteBuffer bytes;
    private int used;
    private int[] entries;
    private int count;
    private int[] order;
    private int next;

    Run(int capacity) {
        this.bytes = ByteBuffer.allocate(capacity).order(ByteOrder.LITTLE_ENDIAN);
        this.entries = new int[ENTRY * 256];
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
    void sort(int targets) {
        int[] from = identity(count);
        int[] counters = new int[Math.min(targets, DIGIT) + 1];
        int[] sorted = pass(from, new int[count], counters, 0);
        if (targets > DIGIT) {
            sorted = pass(sorted, from, new int[(targets - 1 >>> 16) + 2], 16);
        }
        order = sorted;
        next = 0;
    }

    private static int[] identity(int count) {
        int[] numbers = new int[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = i;
        }
        return numbers;
    }

    private int[] pass(int[] from, int[] to, int[] counters, int shift) {
        for (int i = 0; i < count; i++) {
            counters[(entries[ENTRY * i] >>> shift & DIGIT - 1) + 1]++;
        }
        for (int i = 1; i < counters.length; i++) {
            counters[i] += counters[i - 1];
        }
        for (int i = 0; i < count; i++) {
            int entry = from[i];
            to[counters[entries[ENTRY * entry] >>> shift & DIGIT - 1]++] = entry;
        }
        return to;
    }

    /** Goes to the first entry whose target is not below a number. */
    void seek(int target) {
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (entries[ENTRY * order[middle]] < target) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        next = low;
    }

    /** The target of the next entry, or the largest int behind the last. */
    int target() {
        return next < count ? entries[ENTRY * order[next]] : Integer.MAX_VALUE;
    }

    /** Passes over the entries of a target; says whether any of them leaves bytes or an event. */
    boolean skip(int target) {
        boolean any = false;
        while (target() == target) {
            any |= entries[ENTRY * order[next++] + 2] != 0;
        }
        return any;
    }

    /** Hands the entries of a target over. */
    void drain(int target, ExtentSink sink) throws FaroException {
        while (target() == target) {
            int at = ENTRY * order[next++];
            int position = entries[at + 1] & ~ROWS;
            int length = entries[at + 2] & ~EVENT;
            int kind = (entries[at + 2] & EVENT) == 0 ? 0 : bytes.get(position - 1) & 0xFF;
            long rows = (entries[at + 1] & ROWS) == 0 ? 1 : bytes.getLong(position - 8);
            sink.record(bytes, position, length, kind, rows);
        }
    }
}
