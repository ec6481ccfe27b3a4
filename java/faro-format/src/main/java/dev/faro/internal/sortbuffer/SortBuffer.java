package dev.faro.internal.sortbuffer;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Framing;
import dev.faro.internal.index.Members;
import dev.faro.internal.index.RegionDraft;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Records in, in any order of partitions; extents out, in slot order (SRT). Its memory is its size and two parts more,
 * and 8 bytes for each partition up to 4 MiB; it takes it as records come, and keeps it until it is
 * {@link #release}d.
 *
 * <p>With few partitions, records of single partitions are collected by partition from the first on (not with framing
 * arrow), and parts take what is left: events, large and shared records, and all that comes behind the first two in a
 * region. Then its memory is up to a 127th more than its size, a chunk of 64 KiB for each partition, and two parts.
 */
public final class SortBuffer {
    /** Bytes of a part that is sorted by itself: with a second one a processor's cache holds it. */
    private static final int RUN = 2 << 20;
    /** The same where partitions are many, so that what each has of a part is not too little to be copied at once. */
    private static final int RUN_OF_MANY = 4 << 20;
    private static final int MANY = 4 << 10;
    /**
     * Bytes that an array has beside its elements. A collector that gives large arrays whole regions of 1, 2 or 4 MiB
     * would give one more to an array that is a little larger than these.
     */
    private static final int ARRAY_HEADER = 16;
    /** Bytes of the first part at first: many outputs are small. It grows until it is as large as the others. */
    private static final int FIRST_RUN = 64 << 10;
    /** Bytes of a part beyond its share of the size, where the last record did not fit. */
    private static final int SLACK = 4 << 10;
    /** What a record is charged beside its bytes (SRT-1). */
    private static final int ENTRY = 12;

    private final FileHeader header;
    private final long size;
    private final boolean ordered;
    private final int segmentSize;
    private final List<Segment> segments = new ArrayList<>();
    private final List<Members> shared = new ArrayList<>();
    private final Map<Members, Integer> sharedTargets = new HashMap<>();
    private final Scratch scratch;
    /** Where partitions are few, else null. */
    private final Piles piles;
    /** Whether no record of a single partition is in a part: what is in piles comes before these. */
    private boolean piling;
    private int usedSegments;
    private long charged;
    private long records;

    /**
     * An empty buffer.
     *
     * @param size bytes that records are charged at most until they have to be drained
     * @param ordered whether each broadcast or multicast with other members than the one before begins a shared extent
     */
    public SortBuffer(FileHeader header, long size, boolean ordered) {
        this.header = header;
        this.size = size;
        this.ordered = ordered;
        this.segmentSize = segmentSize(size, header.partitionCount());
        this.scratch = new Scratch(segmentSize);
        // A record of framing arrow is a block.
        boolean few = header.framing() != Framing.ARROW && header.partitionCount() <= Piles.MOST;
        this.piles = few ? new Piles(header.partitionCount(), header.framing() == Framing.RECORDS) : null;
        this.piling = few;
    }

    /** The bytes of each part, when as few as can be share the size evenly. */
    static int segmentSize(long size, int partitionCount) {
        long most = (partitionCount > MANY ? RUN_OF_MANY : RUN) - ARRAY_HEADER - SLACK;
        long parts = (size - 1) / most + 1;
        return (int) ((size - 1) / parts + 8 & -8) + SLACK;
    }

    /** Whether it holds no record. */
    public boolean isEmpty() {
        return records == 0;
    }

    /** Bytes of memory that records are in, or may come into without more being taken. */
    long capacity() {
        return segments.stream().mapToLong(Segment::capacity).sum() + (piles == null ? 0 : piles.capacity());
    }

    /** Whether it holds a record by broadcast or multicast. */
    public boolean hasShared() {
        return !shared.isEmpty();
    }

    /** Whether a record cannot even be held by an empty buffer (SRT-2). */
    public boolean isOversized(int length, Members members) {
        return charge(length, members, true) > size;
    }

    /** Whether a record can be added (SRT-1). {@code members} is null for one partition. */
    public boolean fits(int length, Members members) {
        return charged + charge(length, members, members != null && sharedTarget(members) < 0) <= size;
    }

    private long charge(int length, Members members, boolean beginsExtent) {
        long set = members != null && !members.isAll() && beginsExtent ? (header.partitionCount() + 7) / 8 : 0;
        return (long) length + ENTRY + set;
    }

    /** The number of the shared extent that a record with these members belongs to (SRT-4), or -1. */
    private int sharedTarget(Members members) {
        if (ordered) {
            int last = shared.size() - 1;
            return last >= 0 && shared.get(last).equals(members) ? last : -1;
        }
        return sharedTargets.getOrDefault(members, -1);
    }

    /** Adds a record for one partition, which {@link #fits}. */
    public void add(int partition, ByteBuffer record, int kind, long rows) {
        put(partition - header.firstPartition(), record, kind, rows, charge(record.remaining(), null, false));
    }

    /** Adds a record for several partitions, which {@link #fits}. */
    public void add(Members members, ByteBuffer record, int kind, long rows) {
        int target = sharedTarget(members);
        long charge = charge(record.remaining(), members, target < 0);
        if (target < 0) {
            target = shared.size();
            shared.add(members);
            sharedTargets.put(members, target);
        }
        put(header.partitionCount() + target, record, kind, rows, charge);
    }

    private void put(int target, ByteBuffer record, int kind, long rows, long charge) {
        charged += charge;
        records++;
        if (piling && target < header.partitionCount()) {
            if (kind == 0 && rows == 1 && record.remaining() <= Piles.LONGEST) {
                putOnPile(target, record);
                return;
            }
            piling = false;
        }
        Segment segment = usedSegments == 0 ? null : segments.get(usedSegments - 1);
        if (segment == null || !segment.fits(record.remaining())) {
            segment = segmentWithRoom(segment, record.remaining());
        }
        segment.add(target, record, kind, rows);
    }

    private void putOnPile(int target, ByteBuffer record) {
        if (!piles.fits(target, record.remaining())) {
            // Of parts that an earlier region needed.
            segments.subList(usedSegments, segments.size()).clear();
            piles.begin(target);
        }
        piles.add(target, record);
    }

    private Segment segmentWithRoom(Segment segment, int length) {
        if (segment != null) {
            if (grow(segment, length)) {
                return segment;
            }
            segment.sort(targets(), scratch);
        }
        Segment next = nextSegment(length);
        if (!next.fits(length)) {
            grow(next, length);
        }
        return next;
    }

    /** Has a part grow that is not as large as parts are; says whether a record fits now. */
    private boolean grow(Segment segment, int length) {
        if (segment.isSorted() || segment.capacity() >= segmentSize) {
            return false;
        }
        segment.grow((int) Math.min(segmentSize, segment.capacity() + Math.max(segment.capacity(), Segment.capacityFor(length))));
        return segment.fits(length);
    }

    /** A part for records of which the next has a length; one that is larger than parts are gets one made for it. */
    private Segment nextSegment(int length) {
        long needed = Math.min(Integer.MAX_VALUE - 63, Segment.capacityFor(length));
        if (needed > segmentSize) {
            segments.add(usedSegments, newSegment((int) needed));
        } else if (usedSegments == segments.size()) {
            segments.add(newSegment(segments.isEmpty() ? Math.min(FIRST_RUN, segmentSize) : segmentSize));
        }
        return segments.get(usedSegments++);
    }

    private Segment newSegment(int capacity) {
        if (piles != null) {
            // Of chunks that an earlier region needed.
            piles.trim();
        }
        return new Segment(capacity, header.framing() == Framing.OPAQUE);
    }

    private int targets() {
        return header.partitionCount() + shared.size();
    }

    /**
     * Hands over everything as one region (SRT-7) and is empty then, unless the sink fails.
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

    /** Shows the records of single partitions, extent by extent in the order of partitions, and keeps them. */
    public void preview(ExtentSink sink) throws FaroException {
        if (usedSegments > 0) {
            segments.get(usedSegments - 1).sort(targets(), scratch);
        }
        drain(0, header.partitionCount(), sink);
    }

    private int extentsWithBlocks() {
        int extents = 0;
        seek(0);
        for (int target = lowest(); target < header.partitionCount(); target = lowest()) {
            boolean any = piles != null && piles.skip(target);
            for (int i = 0; i < usedSegments; i++) {
                any |= segments.get(i).skip(target);
            }
            // Only framing opaque leaves nothing of a record without bytes (WRT-2).
            extents += any || header.framing() != Framing.OPAQUE ? 1 : 0;
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

    /** Gives its memory back; it can be filled anew. */
    public void release() {
        segments.subList(usedSegments, segments.size()).clear();
        scratch.release();
        if (piles != null) {
            piles.trim();
        }
    }

    /** Forgets what it holds, and gives its memory back; it can be filled anew. */
    public void discard() {
        clear();
        release();
    }

    private void clear() {
        usedSegments = 0;
        segments.removeIf(segment -> segment.capacity() > segmentSize);
        segments.forEach(Segment::clear);
        if (piles != null) {
            piles.clear();
            piling = true;
        }
        charged = 0;
        records = 0;
        shared.clear();
        sharedTargets.clear();
    }
}
