package dev.faro.internal.sortbuffer;

import dev.faro.FaroException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A part of the sort buffer that fits into a processor's cache. It keeps records in the order of their calls, and sorts
 * them by target when it is full, so that each part can be read in sequence later.
 *
 * <p>A record follows its length, as framing records requires. If a record is an event, or counts as other than one
 * row, it is special: the highest bit of its length is set, and its kind and its rows are between the length and the
 * bytes. Entries fill the memory from its end downwards: the target and the position of each record. Together that is
 * what SRT-1 charges.
 *
 * <p>A sorted part consists of runs, each with the records of one target. A directory says where they are. With framing
 * opaque the lengths are left out, unless a record is special or the records are large.
 */
final class Segment implements SortedPart {
    /** The size of an entry, and what a record needs besides its bytes, in bytes. */
    private static final int ENTRY = 8;
    private static final int LENGTH = 4;
    /** The size of kind and rows of a special record. */
    private static final int EXTRA = 9;
    private static final int SPECIAL = 0x8000_0000;
    /** If the average length is at least this, sorting moves only the entries. */
    private static final int LARGE = 4 << 10;
    /** Counting needs 8 bytes for each target. With more targets than this, entries are compared instead. */
    private static final int MAX_COUNTED = 1 << 19;
    /** Counting also visits all targets, so it is not used if there are more than this many targets for each record. */
    private static final int FEW = 16;

    private final boolean opaque;
    private Memory memory;
    private int used;
    private int count;
    private boolean special;

    private boolean sorted;
    private boolean moved;
    /** Whether the records have no lengths. */
    private boolean bare;
    private int directory;
    private int stride;
    private int runs;
    private int next;

    /**
     * Makes an empty part.
     *
     * @param capacity in bytes, a multiple of 8
     * @param opaque whether the ends of records need not be known
     */
    Segment(int capacity, boolean opaque) {
        this(new Memory(capacity), opaque);
    }

    /** Makes an empty part of memory whose capacity is a multiple of 8. */
    Segment(Memory memory, boolean opaque) {
        this.opaque = opaque;
        this.memory = memory;
    }

    Memory memory() {
        return memory;
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

    /** Moves to larger memory. The part must not be sorted. */
    void grow(int capacity) {
        Memory larger = new Memory(capacity);
        System.arraycopy(memory.bytes, 0, larger.bytes, 0, used);
        int entries = ENTRY * count;
        System.arraycopy(memory.bytes, memory.capacity() - entries, larger.bytes, capacity - entries, entries);
        memory = larger;
    }

    boolean isEmpty() {
        return count == 0;
    }

    boolean isSorted() {
        return sorted;
    }

    /** The memory in bytes that a sorted part uses, if its records were moved. */
    int sortedBytes() {
        return directory + stride * runs;
    }

    /** The capacity of a part with room for one record. */
    static long capacityFor(int length) {
        return LENGTH + EXTRA + length + 2L * ENTRY & -ENTRY;
    }

    /** The length of the longest record for which a capacity suffices. */
    static int room(int capacity) {
        return capacity - LENGTH - EXTRA - ENTRY;
    }

    /** Whether a record fits. None does after sorting. */
    boolean fits(int length) {
        return hasRoom(needed(length, 1));
    }

    /** The room in bytes that records with this many bytes in all need. */
    static long needed(int bytes, int records) {
        return bytes + (long) (LENGTH + EXTRA + ENTRY) * records;
    }

    /** Whether there is room for this many bytes more. There is none after sorting. */
    boolean hasRoom(long bytes) {
        return !sorted && used + (long) ENTRY * count + bytes <= memory.capacity();
    }

    void add(int target, ByteBuffer record, int kind, long rows) {
        int position = used;
        int at = position + LENGTH;
        if (kind != 0 || rows != 1) {
            at = addSpecial(record.remaining(), kind, rows);
        } else {
            memory.putInt(position, record.remaining());
        }
        used = memory.put(at, record);
        memory.putLong(entry(count++), (long) target << 32 | position);
    }

    /** Returns where the record's bytes begin. */
    private int addSpecial(int length, int kind, long rows) {
        special = true;
        memory.putInt(used, length | SPECIAL);
        memory.putByte(used + LENGTH, (byte) kind);
        memory.putLong(used + LENGTH + 1, rows);
        return used + LENGTH + EXTRA;
    }

    private int entry(int number) {
        return memory.capacity() - ENTRY * (number + 1);
    }

    /** Makes a sorted part for copies of runs of this one, of this many bytes in all; {@link #addRun} adds each. */
    Segment forCopies(Memory to, int bytes) {
        Segment copies = new Segment(to, opaque);
        copies.sorted = true;
        copies.moved = true;
        copies.bare = bare;
        copies.special = special;
        copies.directory = bytes;
        copies.stride = stride;
        return copies;
    }

    /** Sorts by target, and keeps the order of calls within a target. Does nothing if the part is sorted. */
    void sort(int targets, Scratch scratch) {
        if (sorted) {
            return;
        }
        sorted = true;
        moved = count > 1 && used / count < LARGE && memory.capacity() <= scratch.capacity();
        bare = opaque && moved && !special;
        if (!moved) {
            order(scratch);
        } else if (targets <= MAX_COUNTED && targets / FEW <= count) {
            count(targets, scratch);
        } else {
            gather(scratch);
        }
        next = 0;
    }

    /** Sorts the entries in place, and leaves the records where they are. */
    private void order(Scratch scratch) {
        long[] sorted = sortedEntries(scratch);
        directory = entry(count - 1);
        stride = ENTRY;
        runs = count;
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
        // Positions increase with the calls, so equal targets keep their order.
        Arrays.sort(entries, 0, count);
        return entries;
    }

    /** Computes from the sizes of all targets where each of them begins, and copies each record there. */
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
                addRun(to, target, at, (int) (sum >>> 32));
            }
        }
        long entry = memory.getLong(entry(0));
        for (int i = 1; i <= count; i++) {
            int position = (int) entry;
            int target = (int) (entry >>> 32);
            entry = i < count ? memory.getLong(entry(i)) : used;
            int size = (int) entry - position - left;
            int offset = (int) sums[target];
            sums[target] = offset + size;
            memory.copy(position + left, to, offset, size);
        }
        adopt(scratch);
    }

    /** Compares the entries, and copies the records in their order. */
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
            memory.copy(position + left, to, at, size);
            at += size;
            if (i + 1 == count || sorted[i + 1] >>> 32 != sorted[i] >>> 32) {
                addRun(to, (int) (sorted[i] >>> 32), at, i + 1 - first);
                first = i + 1;
            }
        }
        adopt(scratch);
    }

    /** Makes the sorted records, which are in scratch memory, those of the part. */
    private void adopt(Scratch scratch) {
        memory = scratch.swap(memory);
    }

    private void begin(int bytesPerRun) {
        // Without lengths, the space that lengths and entries took is enough for a directory entry for each record.
        directory = bare ? used - LENGTH * count : used;
        stride = bytesPerRun;
        runs = 0;
    }

    /** Adds a run to the directory, which is in the memory that the records are copied to. */
    void addRun(Memory to, int target, int end, int records) {
        int at = directory + stride * runs++;
        to.putInt(at, target);
        to.putInt(at + 4, end);
        if (hasCounts()) {
            to.putInt(at + 8, records);
        }
    }

    /** The number of runs of a sorted part. */
    int runs() {
        return runs;
    }

    /** Whether sorting moved the records, so that the runs are next to each other. */
    boolean isMoved() {
        return moved;
    }

    /** Whether the records of a sorted part have no lengths. */
    boolean isBare() {
        return bare;
    }

    /** The size of a run's entry in the directory, in bytes. */
    int entrySize() {
        return stride;
    }

    /** Whether the directory has the number of records of each run. */
    boolean hasCounts() {
        return stride > ENTRY;
    }

    /** The number of records of a run, which is in the directory. */
    int records(int run) {
        return memory.getInt(directory + stride * run + 8);
    }

    private int length(int position) {
        return memory.getInt(position) & ~SPECIAL;
    }

    /** The size of the record at a position in bytes, with its length. */
    int size(int position) {
        int length = memory.getInt(position);
        return LENGTH + (length < 0 ? EXTRA : 0) + (length & ~SPECIAL);
    }

    /** The target of a run. */
    int target(int run) {
        return memory.getInt(directory + stride * run);
    }

    /** Where a run begins. */
    int start(int run) {
        if (!moved) {
            return memory.getInt(directory + stride * run + 4);
        }
        return run == 0 ? 0 : memory.getInt(directory + stride * (run - 1) + 4);
    }

    /** Where a run ends. */
    int end(int run) {
        int offset = memory.getInt(directory + stride * run + 4);
        return moved ? offset : offset + size(offset);
    }

    @Override
    public void seek(int target) {
        int low = 0;
        int high = runs;
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

    @Override
    public int target() {
        return next < runs ? target(next) : Integer.MAX_VALUE;
    }

    @Override
    public boolean skip(int target) {
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
        return memory.getInt(position) < 0 && memory.getByte(position + LENGTH) != 0;
    }

    @Override
    public void drain(int target, ExtentSink sink) throws FaroException {
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
        if (hasCounts()) {
            return records(next);
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
                int kind = memory.getByte(at + LENGTH) & 0xFF;
                sink.record(memory.view, at + LENGTH + EXTRA, length, kind, memory.getLong(at + LENGTH + 1));
            } else {
                sink.record(memory.view, at + LENGTH, length, 0, 1);
            }
        }
    }
}
