package dev.faro.internal.sortbuffer;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Framing;
import dev.faro.internal.index.Members;
import dev.faro.internal.index.RegionDraft;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes records in any order of partitions, and returns extents in slot order (SRT). Besides its size it needs two more
 * parts, and 8 bytes for each partition up to 4 MiB. It allocates memory as records arrive, and keeps it until
 * {@link #release}.
 *
 * <p>If there are few partitions, records of single partitions are collected by partition from the beginning, except
 * with framing arrow. Parts then take the rest: events, large records, shared records, and all records after the first
 * event or large record of a region. In this case the memory exceeds the size by up to a 127th, a chunk of 64 KiB for
 * each partition, and two parts.
 */
public final class SortBuffer {
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
    private static final int FIRST_PART = 64 << 10;
    /** The space in bytes that a part has for a last record that does not fit. */
    private static final int SLACK = 4 << 10;
    /** What a record is charged besides its bytes, in bytes (SRT-1). */
    private static final int ENTRY = 12;

    private final FileHeader header;
    private final long size;
    private final int segmentSize;
    private final List<Segment> segments = new ArrayList<>();
    private final SharedTargets shared;
    private final Scratch scratch;
    private final SortMemory memory;
    /** What the owner of the buffer takes, in bytes. */
    private long reserved;
    /** The piles if there are few partitions; otherwise null. */
    private final Piles piles;
    /** Whether all records of single partitions are in piles. Records in piles come before those in parts. */
    private boolean piling;
    private int usedSegments;
    private long charged;
    private long records;

    /**
     * Makes an empty buffer.
     *
     * @param size the maximum charge of the records in the buffer, in bytes (SRT-1)
     * @param ordered whether each broadcast or multicast with other members than the last one begins a shared extent
     */
    public SortBuffer(FileHeader header, long size, boolean ordered) {
        this(header, size, ordered, new SortMemory(null, null));
    }

    /** Makes an empty buffer, as {@link #SortBuffer(FileHeader, long, boolean)} does, with memory from elsewhere. */
    public SortBuffer(FileHeader header, long size, boolean ordered, SortMemory memory) {
        this.memory = memory;
        this.header = header;
        this.size = size;
        this.shared = new SharedTargets(header, ordered);
        this.segmentSize = segmentSize(size, header.partitionCount());
        this.scratch = new Scratch(segmentSize);
        // With framing arrow, a record is a block.
        boolean few = !memory.isOfEngine() && header.framing() != Framing.ARROW
                && header.partitionCount() <= Piles.MAX_TARGETS;
        this.piles = few ? new Piles(header.partitionCount(), header.framing() == Framing.RECORDS) : null;
        this.piling = few;
    }

    /** The size of each part in bytes, if as few parts as possible share the buffer evenly. */
    static int segmentSize(long size, int partitionCount) {
        long max = (partitionCount > MANY ? PART_OF_MANY : PART) - ARRAY_HEADER - SLACK;
        long parts = (size - 1) / max + 1;
        return (int) ((size - 1) / parts + 8 & -8) + SLACK;
    }

    /** Whether the buffer holds no record. */
    public boolean isEmpty() {
        return records == 0;
    }

    /** The size of the memory for sorting beside the records, in bytes, if the whole buffer is used. */
    public static long sortingBytes(FileHeader header, long size) {
        long numbers = Math.max(header.partitionCount(), segmentSize(size, header.partitionCount()) / 16);
        return segmentSize(size, header.partitionCount()) + 8 * Math.min(numbers, 1 << 19);
    }

    /** The charge of the records in the buffer, in bytes (SRT-1). */
    public long charged() {
        return charged;
    }

    /** The memory in bytes that holds records, or can take them without another allocation. */
    long capacity() {
        return segments.stream().mapToLong(Segment::capacity).sum() + (piles == null ? 0 : piles.capacity());
    }

    /** Whether the buffer holds a record that was broadcast or multicast. */
    public boolean hasShared() {
        return shared.size() > 0;
    }

    /** Whether a record does not even fit into an empty buffer (SRT-2). */
    public boolean isOversized(int length, Members members) {
        return charge(length, members, true) > size;
    }

    /** Whether a record can be added (SRT-1). {@code members} is null for one partition. */
    public boolean fits(int length, Members members) {
        return charged + charge(length, members, members != null && shared.find(members) < 0) <= size;
    }

    private long charge(int length, Members members, boolean beginsExtent) {
        long set = members != null && !members.isAll() && beginsExtent ? (header.partitionCount() + 7) / 8 : 0;
        return (long) length + ENTRY + set;
    }

    /**
     * Adds a record for one partition. {@link #fits} must have returned true.
     *
     * @return false if there is no memory for it; then nothing has changed
     */
    public boolean add(int partition, ByteBuffer record, int kind, long rows) throws FaroException {
        if (!put(partition - header.firstPartition(), record, kind, rows)) {
            return false;
        }
        charged += charge(record.remaining(), null, false);
        return true;
    }

    /** Adds a record for several partitions; see {@link #add(int, ByteBuffer, int, long)}. */
    public boolean add(Members members, ByteBuffer record, int kind, long rows) throws FaroException {
        int known = shared.find(members);
        int target = known < 0 ? shared.size() : known;
        long extent = known < 0 ? shared.bytesOf(members) : 0;
        if (extent > 0 && !memory.tryGrow(extent)) {
            return false;
        }
        shared.grow(extent);
        boolean taken = false;
        try {
            taken = put(header.partitionCount() + target, record, kind, rows);
        } finally {
            if (!taken) {
                shared.grow(-extent);
                settle();
            }
        }
        if (!taken) {
            return false;
        }
        charged += charge(record.remaining(), members, known < 0);
        if (known < 0) {
            shared.begin(members);
        }
        return true;
    }

    private boolean put(int target, ByteBuffer record, int kind, long rows) throws FaroException {
        int length = record.remaining();
        if (piling && target < header.partitionCount()) {
            if (kind == 0 && rows == 1 && length <= Piles.LONGEST) {
                if (!piles.fits(target, length) && !beginChunk(target)) {
                    return false;
                }
                piles.add(target, record);
                records++;
                return true;
            }
        }
        Segment segment = usedSegments == 0 ? null : segments.get(usedSegments - 1);
        if (segment == null || !segment.fits(length)) {
            segment = segmentWithRoom(segment, length);
            if (segment == null) {
                return false;
            }
        }
        if (target < header.partitionCount()) {
            piling = false;
        }
        segment.add(target, record, kind, rows);
        records++;
        return true;
    }

    private boolean beginChunk(int target) {
        // Releases parts that only an earlier region needed.
        drop(segments.subList(usedSegments, segments.size()));
        int needed = piles.needed(target);
        if (needed > 0 && !memory.tryGrow(needed)) {
            return false;
        }
        try {
            piles.begin(target);
        } finally {
            settle();
        }
        return true;
    }

    /** Returns a part with room for a record, or null if there is no memory. */
    private Segment segmentWithRoom(Segment segment, int length) throws FaroException {
        if (segment != null) {
            if (!segment.isSorted() && segment.capacity() < segmentSize && !memory.isOfEngine()) {
                if (!grow(segment, length)) {
                    return null;
                }
                if (segment.fits(length)) {
                    return segment;
                }
            }
            segment.sort(targets(), scratch);
        }
        Segment next = nextSegment(length);
        if (next != null && !next.fits(length) && !grow(next, length)) {
            usedSegments--;
            return null;
        }
        return next;
    }

    /** Enlarges a part that does not have its full size yet; false if there is no memory. */
    private boolean grow(Segment segment, int length) {
        long doubled = segment.capacity() + Math.max(segment.capacity(), Segment.capacityFor(length));
        int capacity = (int) Math.min(segmentSize, doubled);
        if (!memory.tryGrow(capacity)) {
            return false;
        }
        try {
            segment.grow(capacity);
        } finally {
            settle();
        }
        return true;
    }

    /** Returns an empty part, or null. If the next record is larger than a part, the part is made for it. */
    private Segment nextSegment(int length) throws FaroException {
        int needed = (int) Math.min(Integer.MAX_VALUE - 63, Segment.capacityFor(length));
        boolean large = needed > segmentSize;
        if (!large && usedSegments < segments.size()) {
            if (!memory.isOfEngine() || segments.get(usedSegments).capacity() >= needed) {
                return segments.get(usedSegments++);
            }
            drop(segments.subList(usedSegments, segments.size()));
        }
        int wanted = large ? needed : segments.isEmpty() ? Math.min(FIRST_PART, segmentSize) : segmentSize;
        Segment made = memory.isOfEngine() ? engineSegment(Math.max(wanted, needed), needed) : heapSegment(wanted);
        if (made != null) {
            segments.add(usedSegments++, made);
        }
        return made;
    }

    private Segment engineSegment(int wanted, int needed) throws FaroException {
        Memory taken = memory.take(wanted, needed);
        return taken == null ? null : new Segment(taken, header.framing() == Framing.OPAQUE);
    }

    private Segment heapSegment(int capacity) {
        if (piles != null) {
            // Releases chunks that only an earlier region needed.
            piles.trim();
        }
        if (!memory.tryGrow(capacity)) {
            settle();
            return null;
        }
        try {
            return new Segment(capacity, header.framing() == Framing.OPAQUE);
        } catch (OutOfMemoryError e) {
            settle();
            throw e;
        }
    }

    /** Removes parts without records, and gives an engine's memory back. */
    private void drop(List<Segment> unused) {
        // No copy of parts on the heap: they are free before the budget hears of it.
        List<Segment> dropped = memory.isOfEngine() ? List.copyOf(unused) : List.of();
        unused.clear();
        RuntimeException failure = null;
        for (Segment segment : dropped) {
            try {
                memory.giveBack(segment.memory());
            } catch (RuntimeException e) {
                failure = e;
            }
        }
        settle();
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * Asks for memory that the buffer's owner takes; it is held until {@link #discard}.
     *
     * @return false if it is refused
     */
    public boolean reserve(long bytes) {
        if (!memory.tryGrow(bytes)) {
            return false;
        }
        reserved += bytes;
        return true;
    }

    /** Gives back what is not used any more. */
    private void settle() {
        memory.settle(reserved + shared.bytes() + (memory.isOfEngine() ? 0 : capacity()));
    }

    private int targets() {
        return header.partitionCount() + shared.size();
    }

    /**
     * Passes all records to the sink as one region (SRT-7). After that the buffer is empty, unless the sink fails.
     *
     * @param rotation where a dense region begins
     */
    public void drain(int rotation, ExtentSink sink) throws FaroException {
        if (usedSegments > 0) {
            segments.get(usedSegments - 1).sort(targets(), scratch);
        }
        int count = header.partitionCount();
        boolean rotated = rotation > 0 && !RegionDraft.isSparse(extentsWithBlocks(), count);
        if (rotated) {
            drain(rotation, count, sink);
            drain(0, rotation, sink);
        } else {
            drain(0, count, sink);
        }
        drain(count, targets(), sink);
        clear();
    }

    /**
     * Passes the records of single partitions to the sink, extent by extent in the order of partitions, and keeps them.
     */
    public void preview(ExtentSink sink) throws FaroException {
        if (usedSegments > 0) {
            segments.get(usedSegments - 1).sort(targets(), scratch);
        }
        drain(0, header.partitionCount(), sink);
    }

    /** Whether the records leave any block in the file (SRT-3). */
    public boolean leavesBlocks() {
        if (header.framing() != Framing.OPAQUE) {
            return !isEmpty();
        }
        if (usedSegments > 0) {
            segments.get(usedSegments - 1).sort(targets(), scratch);
        }
        seek(0);
        boolean any = false;
        for (int target = lowest(); target < Integer.MAX_VALUE && !any; target = lowest()) {
            any = skip(target);
        }
        return any;
    }

    /** Skips the records of a target; returns whether they leave a block with framing opaque. */
    private boolean skip(int target) {
        boolean any = piles != null && piles.skip(target);
        for (int i = 0; i < usedSegments; i++) {
            any |= segments.get(i).skip(target);
        }
        return any;
    }

    private int extentsWithBlocks() {
        int extents = 0;
        seek(0);
        for (int target = lowest(); target < header.partitionCount(); target = lowest()) {
            // Only with framing opaque a record without bytes leaves nothing (WRT-2).
            extents += skip(target) || header.framing() != Framing.OPAQUE ? 1 : 0;
        }
        return extents;
    }

    private void drain(int from, int to, ExtentSink sink) throws FaroException {
        seek(from);
        for (int target = lowest(); target < to; target = lowest()) {
            if (target < header.partitionCount()) {
                sink.beginOwn(header.firstPartition() + target);
            } else {
                sink.beginShared(shared.get(target - header.partitionCount()));
            }
            if (piles != null) {
                piles.drain(target, sink);
            }
            for (int i = 0; i < usedSegments; i++) {
                segments.get(i).drain(target, sink);
            }
            sink.endExtent();
        }
    }

    private void seek(int target) {
        if (piles != null) {
            piles.seek(target);
        }
        for (int i = 0; i < usedSegments; i++) {
            segments.get(i).seek(target);
        }
    }

    private int lowest() {
        int lowest = piles == null ? Integer.MAX_VALUE : piles.target();
        for (int i = 0; i < usedSegments; i++) {
            lowest = Math.min(lowest, segments.get(i).target());
        }
        return lowest;
    }

    /** The region of the records that were drained has ended, and with it the memory of its shared extents. */
    public void regionEnded() {
        shared.regionEnded();
        settle();
    }

    /** Releases memory that holds no record. The buffer can be used again. */
    public void release() {
        scratch.release();
        if (piles != null) {
            piles.trim();
        }
        drop(segments.subList(usedSegments, segments.size()));
    }

    /** Removes all records and releases the memory, also what was reserved. The buffer can be used again. */
    public void discard() {
        reserved = 0;
        shared.regionEnded();
        try {
            clear();
        } finally {
            release();
        }
    }

    private void clear() {
        usedSegments = 0;
        segments.forEach(Segment::clear);
        if (piles != null) {
            piles.clear();
            piling = true;
        }
        charged = 0;
        records = 0;
        shared.clear();
        for (int i = segments.size() - 1; i >= 0; i--) {
            if (segments.get(i).capacity() > segmentSize) {
                drop(segments.subList(i, i + 1));
            }
        }
    }
}
