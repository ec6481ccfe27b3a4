package dev.faro.internal.sortbuffer;

import dev.faro.FaroException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A part of the sort buffer that fits into a processor's cache: records in the order of their calls, brought into the
 * order of their targets when the part is full, so that later each part is read in sequence.
 *
 * <p>A record stands behind its length, as framing records wants it. One that is an event, or that counts as other than
 * one row, has the highest bit of its length set, and between its length and its bytes the kind and the rows. From the
 * end of the memory down stand the entries: target and position of each record. Together that is what SRT-1 charges.
 *
 * <p>Sorted, the part is segments, each with the records of one target; the directory says where. With framing opaque
 * they stand there without their lengths, unless one of them is special or they are large.
 */
final class Segment {
    /** Bytes of an entry, and of a record beside its bytes. */
    private static final int ENTRY = 8;
    private static final int LENGTH = 4;
    /** Kind and rows of a special record. */
    private static final int EXTRA = 9;
    private static final int SPECIAL = 0x8000_0000;
    /** From this average length on, records stay where they are when the part is sorted. */
    private static final int LARGE = 4 << 10;
    /** Counting takes 8 bytes for each target, so beyond this many entries are compared. */
    private static final int MOST_COUNTED = 1 << 19;
    /** Counting also passes over all targets: not when there are so many more of them than records. */
    private static final int FEW = 16;

    private final boolean opaque;
    private Memory memory;
    private int used;
    private int count;
    private boolean special;

    private boolean sorted;
    private boolean moved;
    /** Whether the lengths are gone. */
    private boolean bare;
    private int directory;
    private int stride;
    private int segments;
    private int next;

    /**
     * An empty part.
     *
     * @param capacity in bytes, a multiple of 8
     * @param opaque whether nobody needs to know where records end
     */
    Segment(int capacity, boolean opaque) {
        this.opaque = opaque;
        memory = new Memory(capacity);
    }

    void clear() {
        used = 0;
        count = 0;
        special = false;
        sorted = false;
    }

    int capacity() {
        return memory.capacity();
    }

    /** Takes larger memory. Not when it is sorted. */
    void grow(int capacity) {
        Memory larger = new Memory(capacity);
        System.arraycopy(memory.bytes, 0, larger.bytes, 0, used);
        int entries = ENTRY * count;
        System.arraycopy(memory.bytes, memory.capacity() - entries, larger.bytes, capacity - entries, entries);
        memory = larger;
    }

    boolean isSorted() {
        return sorted;
    }

    /** The capacity that a part needs to hold one record. */
    static long capacityFor(int length) {
        return LENGTH + EXTRA + length + 2L * ENTRY & -ENTRY;
    }

    /** Whether a record still fits: none does when it is sorted. */
    boolean fits(int length) {
        return !sorted && used + LENGTH + EXTRA + length + ENTRY * (count + 1L) <= memory.capacity();
    }

    void add(int target, ByteBuffer record, int kind, long rows) {
        int length = record.remaining();
        int position = used;
        int at = position + LENGTH;
        memory.putInt(position, length);
        if (kind != 0 || rows != 1) {
            special = true;
            memory.putInt(position, length | SPECIAL);
            memory.bytes[at] = (byte) kind;
            memory.putLong(at + 1, rows);
            at += EXTRA;
        }
        record.get(record.position(), memory.bytes, at, length);
        used = at + length;
        memory.putLong(entry(count++), (long) target << 32 | position);
    }

    private int entry(int number) {
        return memory.capacity() - ENTRY * (number + 1);
    }

    /** Sorts by target, keeping the order of calls; unless it is sorted. */
    void sort(int targets, Scratch scratch) {
        if (sorted) {
            return;
        }
        sorted = true;
        moved = count > 1 && used / count < LARGE && memory.capacity() <= scratch.capacity();
        bare = opaque && moved && !special;
        if (!moved) {
            order(scratch);
        } else if (targets <= MOST_COUNTED && targets / FEW <= count) {
            count(targets, scratch);
        } else {
            gather(scratch);
        }
        next = 0;
    }

    /** Puts the entries, which say where records are, into order where they stand, and nothing else. */
    private void order(Scratch scratch) {
        long[] sorted = sortedEntries(scratch);
        directory = entry(count - 1);
        stride = ENTRY;
        segments = count;
        for (int i = 0; i < count; i++) {
            memory.putInt(directory + ENTRY * i, (int) (sorted[i] >>> 32));
            memory.putInt(directory + ENTRY * i + 4, (int) sorted[i]);
        }
    }

    private long[] sortedEntries(Scratch scratch) {
        long[] entries = scratch.longs(count);
        for (int i = 0; i < count; i++) {
            entries[i] = memory.getLong(entry(i));
        }
        // Positions rise with the calls, so equal targets keep their order.
        Arrays.sort(entries, 0, count);
        return entries;
    }

    /** Sums up what each target has, which says where its segment begins, and puts each record there. */
    private void count(int targets, Scratch scratch) {
        long[] sums = scratch.longs(targets);
        Arrays.fill(sums, 0, targets, 0);
        int left = bare ? LENGTH : 0;
        int end = used;
        for (int i = count - 1; i >= 0; i--) {
            long entry = memory.getLong(entry(i));
            int position = (int) entry;
            sums[(int) (entry >>> 32)] += (1L << 32) + (end - position - left);
            end = position;
        }
        Memory to = scratch.memory(memory.capacity());
        begin(bare || 3L * 4 * Math.min(count, targets) <= memory.capacity() - used ? 3 * 4 : 2 * 4);
        int at = 0;
        for (int target = 0; target < targets; target++) {
            long sum = sums[target];
            if (sum != 0) {
                sums[target] = at;
                at += (int) sum;
                segment(to, target, at, (int) (sum >>> 32));
            }
        }
        byte[] source = memory.bytes;
        byte[] sink = to.bytes;
        long entry = memory.getLong(entry(0));
        for (int i = 1; i <= count; i++) {
            int position = (int) entry;
            int target = (int) (entry >>> 32);
            entry = i < count ? memory.getLong(entry(i)) : used;
            int size = (int) entry - position - left;
            int place = (int) sums[target];
            sums[target] = place + size;
            System.arraycopy(source, position + left, sink, place, size);
        }
        memory = scratch.swap(memory);
    }

    /** Takes the records in the order of their entries, which are compared. */
    private void gather(Scratch scratch) {
        long[] sorted = sortedEntries(scratch);
        Memory to = scratch.memory(memory.capacity());
        begin(bare ? 3 * 4 : 2 * 4);
        int left = bare ? LENGTH : 0;
        int at = 0;
        int first = 0;
        for (int i = 0; i < count; i++) {
            int position = (int) sorted[i];
            int size = size(position) - left;
            System.arraycopy(memory.bytes, position + left, to.bytes, at, size);
            at += size;
            if (i + 1 == count || sorted[i + 1] >>> 32 != sorted[i] >>> 32) {
                segment(to, (int) (sorted[i] >>> 32), at, i + 1 - first);
                first = i + 1;
            }
        }
        memory = scratch.swap(memory);
    }

    private void begin(int bytesPerSegment) {
        // Where there are no lengths, they and the entries leave room for a segment of each record.
        directory = bare ? used - LENGTH * count : used;
        stride = bytesPerSegment;
        segments = 0;
    }

    private void segment(Memory to, int target, int end, int records) {
        int at = directory + stride * segments++;
        to.putInt(at, target);
        to.putInt(at + 4, end);
        if (stride > ENTRY) {
            to.putInt(at + 8, records);
        }
    }

    private int length(int position) {
        return memory.getInt(position) & ~SPECIAL;
    }

    /** Bytes that the record at a position takes. */
    private int size(int position) {
        int length = memory.getInt(position);
        return LENGTH + (length < 0 ? EXTRA : 0) + (length & ~SPECIAL);
    }

    private int target(int segment) {
        return memory.getInt(directory + stride * segment);
    }

    private int start(int segment) {
        if (!moved) {
            return memory.getInt(directory + stride * segment + 4);
        }
        return segment == 0 ? 0 : memory.getInt(directory + stride * (segment - 1) + 4);
    }

    private int end(int segment) {
        int place = memory.getInt(directory + stride * segment + 4);
        return moved ? place : place + size(place);
    }

    /** Goes to the first segment whose target is not below a number. */
    void seek(int target) {
        int low = 0;
        int high = segments;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (target(middle) < target) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        next = low;
    }

    /** The target of the next segment, or the largest int behind the last. */
    int target() {
        return next < segments ? target(next) : Integer.MAX_VALUE;
    }

    /** Passes over the segments of a target; says whether any record of theirs leaves bytes or is an event. */
    boolean skip(int target) {
        boolean any = false;
        for (; target() == target; next++) {
            any = any || leavesAnything(start(next), end(next));
        }
        return any;
    }

    private boolean leavesAnything(int start, int end) {
        if (bare) {
            return start < end;
        }
        for (int at = start; at < end; at += size(at)) {
            if (length(at) != 0 || isEvent(at)) {
                return true;
            }
        }
        return false;
    }

    private boolean isEvent(int position) {
        return memory.getInt(position) < 0 && memory.bytes[position + LENGTH] != 0;
    }

    /** Hands the segments of a target over. */
    void drain(int target, ExtentSink sink) throws FaroException {
        for (; target() == target; next++) {
            int start = start(next);
            int end = end(next);
            if (bare) {
                sink.bytes(memory.view, start, end, records(start, end));
            } else if (special) {
                drainOneByOne(start, end, sink);
            } else {
                sink.records(memory.view, start, end, records(start, end));
            }
        }
    }

    private int records(int start, int end) {
        if (stride > ENTRY) {
            return memory.getInt(directory + stride * next + 8);
        }
        int records = 0;
        for (int at = start; at < end; at += LENGTH + memory.getInt(at)) {
            records++;
        }
        return records;
    }

    private void drainOneByOne(int start, int end, ExtentSink sink) throws FaroException {
        for (int at = start; at < end; at += size(at)) {
            int length = length(at);
            if (memory.getInt(at) < 0) {
                int kind = memory.bytes[at + LENGTH] & 0xFF;
                sink.record(memory.view, at + LENGTH + EXTRA, length, kind, memory.getLong(at + LENGTH + 1));
            } else {
                sink.record(memory.view, at + LENGTH, length, 0, 1);
            }
        }
    }
}
