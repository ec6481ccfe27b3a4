package dev.faro.internal.sortbuffer;

import dev.faro.FaroException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Parts on the heap, as far as a budget grants it. */
final class HeapParts implements Parts {
    /** The size of a part in bytes: the cache of a processor holds two. */
    private static final int PART = 2 << 20;
    /** The size with many partitions, so that each has enough records in a part to be copied at once. */
    private static final int PART_OF_MANY = 4 << 20;
    private static final int MANY = 4 << 10;
    /**
     * The size of an array besides its elements, in bytes. Some garbage collectors give large arrays whole regions of
     * 1, 2 or 4 MiB, and would need one more for an array that is only a little larger.
     */
    private static final int ARRAY_HEADER = 16;
    /**
     * The first size of the first part in bytes. It is small because many outputs are small, and grows to the size of
     * the others.
     */
    private static final int FIRST_PART = 4 << 10;
    /** The space in bytes that a part has for a last record that does not fit. */
    private static final int SLACK = 4 << 10;

    /** The rest of the sort buffer, which uses memory too. */
    interface Others {
        /** Releases what only an earlier region needed. Returns what a first part needs besides its own, in bytes. */
        long makeRoom();

        /** Gives back what is not used any more. */
        void settle();
    }

    private final int size;
    private final boolean opaque;
    private final SortMemory memory;
    private final Others others;
    private final Scratch scratch;
    private final List<Segment> segments = new ArrayList<>();
    private int used;

    /**
     * Makes no part yet.
     *
     * @param size the size of a part in bytes
     * @param opaque whether the ends of records need not be known
     */
    HeapParts(int size, boolean opaque, SortMemory memory, Others others) {
        this.size = size;
        this.opaque = opaque;
        this.memory = memory;
        this.others = others;
        this.scratch = new Scratch(size);
    }

    /** The size of each part in bytes, if as few parts as possible share the buffer evenly. */
    static int size(long bufferSize, int partitionCount) {
        long max = (partitionCount > MANY ? PART_OF_MANY : PART) - ARRAY_HEADER - SLACK;
        long parts = (bufferSize - 1) / max + 1;
        return (int) ((bufferSize - 1) / parts + 8 & -8) + SLACK;
    }

    /** The size of the memory for sorting, in bytes. */
    static long sortingBytes(long bufferSize, int partitionCount) {
        int part = size(bufferSize, partitionCount);
        return part + 8 * Math.min(Math.max(partitionCount, part / 16), 1L << 19);
    }

    @Override
    public boolean isEmpty() {
        return segments.isEmpty();
    }

    @Override
    public long capacity() {
        return segments.stream().mapToLong(Segment::capacity).sum();
    }

    @Override
    public boolean add(int target, ByteBuffer record, int kind, long rows, int targets) throws FaroException {
        int length = record.remaining();
        Segment segment = used == 0 ? null : segments.get(used - 1);
        if (segment == null || !segment.fits(length)) {
            segment = withRoom(segment, length, targets);
            if (segment == null) {
                return false;
            }
        }
        segment.add(target, record, kind, rows);
        return true;
    }

    /** Returns a part with room for a record, or null if there is no memory. */
    private Segment withRoom(Segment segment, int length, int targets) throws FaroException {
        if (segment != null) {
            if (!segment.isSorted() && segment.capacity() < size) {
                if (!grow(segment, length)) {
                    return null;
                }
                if (segment.fits(length)) {
                    return segment;
                }
            }
            segment.sort(targets, scratch);
        }
        Segment next = next(length);
        if (next != null && !next.fits(length) && !grow(next, length)) {
            used--;
            return null;
        }
        return next;
    }

    /** Enlarges a part that does not have its full size yet; false if there is no memory. */
    private boolean grow(Segment segment, int length) {
        long doubled = segment.capacity() + Math.max(segment.capacity(), Segment.capacityFor(length));
        int capacity = (int) Math.min(size, doubled);
        if (!memory.tryGrow(capacity)) {
            return false;
        }
        try {
            segment.grow(capacity);
        } finally {
            others.settle();
        }
        return true;
    }

    /** Returns an empty part, or null. If the next record is larger than a part, the part is made for it. */
    private Segment next(int length) throws FaroException {
        int needed = (int) Math.min(Integer.MAX_VALUE - 63, Segment.capacityFor(length));
        boolean large = needed > size;
        if (!large && used < segments.size()) {
            return segments.get(used++);
        }
        Segment made = onHeap(large ? needed : segments.isEmpty() ? Math.min(FIRST_PART, size) : size);
        if (made != null) {
            segments.add(used++, made);
        }
        return made;
    }

    private Segment onHeap(int capacity) {
        if (!memory.tryGrow(capacity + others.makeRoom())) {
            others.settle();
            return null;
        }
        try {
            return new Segment(capacity, opaque);
        } catch (OutOfMemoryError e) {
            others.settle();
            throw e;
        }
    }

    @Override
    public List<Segment> sorted(int targets) {
        if (used > 0) {
            segments.get(used - 1).sort(targets, scratch);
        }
        return segments.subList(0, used);
    }

    /** Removes parts that are larger than others, too. */
    @Override
    public void clear() {
        used = 0;
        segments.forEach(Segment::clear);
        for (int i = segments.size() - 1; i >= 0; i--) {
            if (segments.get(i).capacity() > size) {
                drop(segments.subList(i, i + 1));
            }
        }
    }

    @Override
    public void dropUnused() {
        if (used == 0) {
            scratch.release();
        }
        drop(segments.subList(used, segments.size()));
    }

    /** Removes parts without records. They are free before the budget hears of it. */
    private void drop(List<Segment> unused) {
        unused.clear();
        others.settle();
    }
}
