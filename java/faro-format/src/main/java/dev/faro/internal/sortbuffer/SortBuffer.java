package dev.faro.internal.sortbuffer;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Framing;
import dev.faro.internal.index.Members;
import java.nio.ByteBuffer;

/**
 * Takes records in any order of partitions, and returns extents in slot order (SRT). Besides its size it needs two more
 * parts, and 8 bytes for each partition up to 4 MiB. It allocates memory as records arrive, and keeps it until
 * {@link #release}.
 *
 * <p>If there are few partitions, records of single partitions are collected by partition from the beginning, except
 * with framing arrow. Parts then take the rest: events, large records, shared records, and all records after the first
 * event or large record of a region. In this case the memory exceeds the size by up to a 127th, a chunk of 64 KiB for
 * each partition, and two parts.
 *
 * <p>With a plan for slots, the records and events of single partitions move into slots as soon as a region is large
 * enough, if none is shared and the plan is for their length; parts then take only shared records. What slots need
 * beyond the size is not more than the memory for sorting, and is taken from that while there are no parts.
 */
public final class SortBuffer {
    /** What a record is charged besides its bytes, in bytes (SRT-1). */
    private static final int ENTRY = 12;

    private static final Tail[] NONE = {};

    private final FileHeader header;
    private final int first;
    private final long size;
    private final SharedTargets shared;
    private final SortMemory memory;
    /** What the owner of the buffer takes, in bytes. */
    private long reserved;
    /** The piles if there are few partitions; otherwise null. */
    private final Piles piles;
    private final Parts parts;
    /** Whether all records of single partitions are in piles. Records in piles come before those in parts. */
    private boolean piling;
    /** When records go into slots; null for never. */
    private final SlotPlan plan;
    /** Null if there are none. */
    private Slots slots;
    /** The tails of all partitions, if all records of the region are in slots; otherwise none. */
    private Tail[] open = NONE;
    /** Whether all records of single partitions are in slots. */
    private boolean slotting;
    /** The charges at which the records move into slots. */
    private long moveAt;
    private long charged;
    /** What of that is for shared records and events. */
    private long sharedCharged;
    /** The records and events for single partitions that are not in slots. */
    private long added;

    /**
     * Makes an empty buffer.
     *
     * @param size the maximum charge of the records in the buffer, in bytes (SRT-1)
     * @param ordered whether each broadcast or multicast with other members than the last one begins a shared extent
     */
    public SortBuffer(FileHeader header, long size, boolean ordered) {
        this(header, size, ordered, new SortMemory(null, null), null);
    }

    /**
     * Makes an empty buffer, as {@link #SortBuffer(FileHeader, long, boolean)} does, with memory from elsewhere.
     *
     * @param plan when records go into slots; null for never
     */
    public SortBuffer(FileHeader header, long size, boolean ordered, SortMemory memory, SlotPlan plan) {
        this.plan = memory.isOfEngine() ? null : plan;
        this.moveAt = this.plan == null ? Long.MAX_VALUE : plan.from();
        this.memory = memory;
        this.header = header;
        this.first = header.firstPartition();
        this.size = size;
        this.shared = new SharedTargets(header, ordered);
        int part = HeapParts.size(size, header.partitionCount());
        boolean opaque = header.framing() == Framing.OPAQUE;
        this.parts = memory.isOfEngine() ? new EngineParts(part, opaque, memory)
                : new HeapParts(part, opaque, memory, new Others());
        // With framing arrow, a record is a block.
        boolean few = !memory.isOfEngine() && header.framing() != Framing.ARROW
                && header.partitionCount() <= Piles.MAX_TARGETS;
        this.piles = few ? new Piles(header.partitionCount(), header.framing() == Framing.RECORDS) : null;
        this.piling = few;
    }

    /** Whether the buffer holds no record. */
    public boolean isEmpty() {
        return charged == 0;
    }

    /** The size of the memory for sorting beside the records, in bytes, if the whole buffer is used. */
    public static long sortingBytes(FileHeader header, long size) {
        return HeapParts.sortingBytes(size, header.partitionCount());
    }

    /** The charge of the records in the buffer, in bytes (SRT-1). */
    public long charged() {
        return charged;
    }

    /** The memory in bytes that holds records, or can take them without another allocation. */
    long capacity() {
        return parts.capacity() + (piles == null ? 0 : piles.capacity())
                + (slots == null ? 0 : slots.capacity());
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
        if (!slotting) {
            added++;
        }
        if (charged >= moveAt) {
            moveToSlots();
        }
        return true;
    }

    /**
     * Does what {@link #fits} and {@link #add(int, ByteBuffer, int, long)} do, if the record needs nothing but to be
     * copied into a slot; otherwise nothing.
     *
     * @return whether it was added
     */
    public boolean addAtOnce(int partition, ByteBuffer record) {
        int target = partition - first;
        if (target < 0 || target >= open.length) {
            return false;
        }
        long sum = charged + record.remaining() + ENTRY;
        if (sum > size || !open[target].addAtOnce(record)) {
            return false;
        }
        charged = sum;
        return true;
    }

    /** Moves the records into slots, if they are not too long, none of them is shared, and there is memory. */
    private void moveToSlots() throws FaroException {
        moveAt = Long.MAX_VALUE;
        if (shared.size() > 0 || !plan.isFor(added, charged)) {
            return;
        }
        slots = new Slots(header.partitionCount(), plan.slotSize(), plan.blockSize());
        if (!growSlots(plan.slotsFor(header.partitionCount(), charged))) {
            slots = null;
            settle();
            return;
        }
        extents().drainOwn(new SlotFiller(header, slots));
        slotting = true;
        open = slots.tails();
        parts.clear();
        parts.dropUnused();
        if (piles != null) {
            piles.clear();
            piles.trim();
        }
        settle();
    }

    /** Allocates memory for this many slots; returns false if it is refused. */
    private boolean growSlots(int count) {
        parts.dropUnused();
        long more = held(slots.missing(count)) - memory.granted();
        if (more > 0 && !memory.tryGrow(more)) {
            return false;
        }
        try {
            slots.allocate(count);
        } finally {
            settle();
        }
        return true;
    }

    private boolean addToSlots(int target, ByteBuffer record, int kind, long rows) {
        return slots.add(target, record, kind, rows)
                || growSlots(slots.needed(target, record.remaining())) && slots.add(target, record, kind, rows);
    }

    /** Releases the memory of slots that only an earlier region needed. */
    private void trimSlots() {
        if (slotting) {
            slots.trim();
        } else {
            slots = null;
        }
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
        long charge = charge(record.remaining(), members, known < 0);
        charged += charge;
        sharedCharged += charge;
        if (known < 0) {
            shared.begin(members);
        }
        // With the option ordered, the next record for one partition ends the region.
        open = NONE;
        return true;
    }

    private boolean put(int target, ByteBuffer record, int kind, long rows) throws FaroException {
        int length = record.remaining();
        if (slotting && target < header.partitionCount()) {
            return addToSlots(target, record, kind, rows);
        }
        if (piling && target < header.partitionCount()) {
            if (kind == 0 && rows == 1 && length <= Piles.LONGEST) {
                if (!piles.fits(target, length) && !beginChunk(target)) {
                    return false;
                }
                piles.add(target, record);
                return true;
            }
        }
        if (!parts.add(target, record, kind, rows, targets())) {
            return false;
        }
        if (target < header.partitionCount()) {
            piling = false;
        }
        return true;
    }

    private boolean beginChunk(int target) {
        // Releases parts that only an earlier region needed.
        parts.dropUnused();
        trimSlots();
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

    /** What parts need of the rest. */
    private final class Others implements HeapParts.Others {
        @Override
        public long makeRoom() {
            if (piles != null) {
                piles.trim();
            }
            trimSlots();
            // The part needs the memory for sorting, which slots used until now.
            return lent(0);
        }

        @Override
        public void settle() {
            SortBuffer.this.settle();
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
        memory.settle(held(0));
    }

    /** The memory in bytes that must be granted with this many more bytes of slots. */
    private long held(long moreSlots) {
        return reserved + shared.bytes() + (memory.isOfEngine() ? 0 : capacity() + moreSlots - lent(moreSlots));
    }

    /** The memory in bytes that slots use of that for sorting, which is for parts. */
    private long lent(long moreSlots) {
        return slots == null || !parts.isEmpty() ? 0
                : Math.min(slots.capacity() + moreSlots, sortingBytes(header, size));
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
        extents().drain(rotation, sink);
        clear();
    }

    /**
     * Passes the records of single partitions to the sink, extent by extent in the order of partitions, and keeps them.
     * Not for a buffer with a plan for slots.
     */
    public void preview(ExtentSink sink) throws FaroException {
        extents().drainOwn(sink);
    }

    /** Whether the records leave any block in the file (SRT-3). */
    public boolean leavesBlocks() {
        return header.framing() != Framing.OPAQUE ? !isEmpty() : extents().leaveBlocks();
    }

    private Extents extents() {
        return new Extents(header, shared, piles, parts.sorted(targets()), slotting ? slots : null);
    }

    /** The region of the records that were drained has ended, and with it the memory of its shared extents. */
    public void regionEnded() {
        shared.regionEnded();
        settle();
    }

    /** Releases the memory of an empty buffer, which can be used again. */
    public void release() {
        if (piles != null) {
            piles.trim();
        }
        slotting = false;
        beginRegion();
        trimSlots();
        try {
            parts.dropUnused();
        } finally {
            settle();
        }
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

    /** Decides where the first records of a region go. */
    private void beginRegion() {
        open = slotting ? slots.tails() : NONE;
        moveAt = plan == null || slotting ? Long.MAX_VALUE : plan.from();
    }

    private void clear() {
        if (piles != null) {
            piles.clear();
            piling = true;
        }
        if (slotting) {
            slotting = charged >= plan.from() && plan.isFor(slots.entries(), charged - sharedCharged);
            slots.clear();
        }
        beginRegion();
        charged = 0;
        sharedCharged = 0;
        added = 0;
        shared.clear();
        parts.clear();
    }
}
