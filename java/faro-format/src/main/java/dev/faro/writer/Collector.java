package dev.faro.writer;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Framing;
import dev.faro.codec.Codec;
import dev.faro.codec.Encoder;
import dev.faro.internal.index.Members;
import dev.faro.internal.sortbuffer.SlotPlan;
import dev.faro.internal.sortbuffer.SortBuffer;
import dev.faro.internal.sortbuffer.SortMemory;
import java.nio.ByteBuffer;

/** Collects records in the sort buffer, and ends regions (SRT-1 to SRT-4, WRT-14). */
final class Collector {
    private final WriterOptions options;
    private final FileHeader header;
    private final Encoder encoder;
    private final LateOutput output;
    private final SortMemory memory;
    private final SortBuffer buffer;
    private final boolean ordered;
    /** Whether the working memory was granted. */
    private boolean working;
    private long taken;
    private long records;
    private long spills;
    private long regionNanos;

    /** @param blockSize the target for the plain size of a block in bytes */
    Collector(FileHeader header, WriterOptions options, Encoder encoder, LateOutput output, int blockSize)
            throws FaroException {
        this.options = options;
        this.header = header;
        this.encoder = encoder;
        this.output = output;
        this.ordered = options.ordered;
        this.memory = new SortMemory(options.buffers, options.memoryBudget);
        this.buffer = new SortBuffer(header, options.bufferSize, options.ordered, memory, plan(blockSize));
    }

    private SlotPlan plan(int blockSize) {
        if (options.codec != Codec.NONE) {
            return null;
        }
        return options.slotSize == null ? SlotPlan.of(header, options.bufferSize, blockSize)
                : SlotPlan.of(header, options.bufferSize, blockSize, options.slotSize);
    }

    /** Takes a record if that is only to copy it, as it mostly is with few partitions; otherwise does nothing. */
    boolean takeAtOnce(int partition, ByteBuffer record) {
        if (!buffer.addAtOnce(partition, record)) {
            return false;
        }
        taken++;
        return true;
    }

    /**
     * Takes a record or event, by SRT-1 to SRT-4. It is short, so that the JIT compiler puts it into the caller's loop
     * (benchmark write, 64 partitions: 5 %): all but the most frequent case have methods of their own.
     *
     * @param members the partitions; null for one
     * @return false if the budget refused memory for it although the buffer was empty; it was not taken, and a region may
     *     have ended
     */
    boolean take(int partition, Members members, ByteBuffer record, int kind, long rows) throws FaroException {
        if (members != null || !working || ordered && buffer.hasShared() || !buffer.fits(record.remaining(), null)) {
            return takeWorking() && put(partition, members, record, kind, rows);
        }
        if (!buffer.add(partition, record, kind, rows)) {
            return addAfterSpill(partition, null, record, kind, rows);
        }
        taken += kind == BlockKind.DATA ? rows : 0;
        return true;
    }

    /** Asks for the memory that ending a region needs, once, so that ending one never fails for lack of it. */
    boolean takeWorking() {
        if (!working) {
            working = buffer.reserve(WorkingMemory.bytes(header, options.blockSize, options.bufferSize, options.codec));
        }
        return working;
    }

    private boolean put(int partition, Members members, ByteBuffer record, int kind, long rows) throws FaroException {
        boolean outOfOrder = ordered && members == null && buffer.hasShared();
        // An oversized record never fits: if its members have an extent, that is charged already.
        if (outOfOrder || !buffer.fits(record.remaining(), members)) {
            spills += outOfOrder || buffer.isEmpty() ? 0 : 1;
            closeRegion();
            if (buffer.isOversized(record.remaining(), members)) {
                putOversized(partition, members, record, kind, rows);
                return true;
            }
        }
        return add(partition, members, record, kind, rows) || addAfterSpill(partition, members, record, kind, rows);
    }

    /** Writes a region of one record (SRT-2). */
    private void putOversized(int partition, Members members, ByteBuffer record, int kind, long rows)
            throws FaroException {
        int length = record.remaining();
        WriterOutput open = output.get();
        BlockBuilder builder = open.records();
        open.regions().begin(leavesBlocks(length, kind));
        if (members == null) {
            builder.beginOwn(partition);
        } else {
            builder.beginShared(members);
        }
        builder.record(record, record.position(), length, kind, rows);
        builder.endExtent();
        open.regions().commit();
        taken += kind == BlockKind.DATA ? rows : 0;
        records = taken;
    }

    /** A spill (WRT-14): the region ends because memory was refused, and its memory is given back. */
    private boolean addAfterSpill(int partition, Members members, ByteBuffer record, int kind, long rows)
            throws FaroException {
        spills += buffer.isEmpty() ? 0 : 1;
        closeRegion();
        buffer.release();
        return add(partition, members, record, kind, rows);
    }

    private boolean add(int partition, Members members, ByteBuffer record, int kind, long rows) throws FaroException {
        boolean added = members == null ? buffer.add(partition, record, kind, rows)
                : buffer.add(members, record, kind, rows);
        if (added && kind == BlockKind.DATA) {
            taken += rows;
        }
        return added;
    }

    /** Whether a record leaves a block (SRT-3). */
    private boolean leavesBlocks(int length, int kind) {
        return options.framing != Framing.OPAQUE || length > 0 || kind != BlockKind.DATA;
    }

    /** Whether the sort buffer holds no record. */
    boolean isEmpty() {
        return buffer.isEmpty();
    }

    /** Ends the region of the records that were taken, if there are any (SRT-3). */
    void closeRegion() throws FaroException {
        if (!buffer.isEmpty()) {
            long before = System.nanoTime();
            drain(output.get());
            output.made().regions().commit();
            releaseExtents();
            regionNanos += System.nanoTime() - before;
        }
        records = taken;
    }

    /** Ends the last region, and decides the layout if nothing did before. */
    void closeLastRegion() throws FaroException {
        output.last(buffer.charged());
        if (!buffer.isEmpty()) {
            long before = System.nanoTime();
            drain(output.made());
            output.made().regions().commitLast();
            releaseExtents();
            regionNanos += System.nanoTime() - before;
        }
        records = taken;
    }

    private void releaseExtents() {
        output.made().regions().release();
        buffer.regionEnded();
    }

    private void drain(WriterOutput open) throws FaroException {
        open.dictionaries().train(buffer, encoder);
        // A storage cannot take back dictionaries before a region that leaves nothing.
        open.regions().begin(!open.dictionaries().areWaiting() || buffer.leavesBlocks());
        buffer.drain((int) options.rotation, open.records());
    }

    /** Gives the memory of the records back, of which there are none now. */
    void release() {
        buffer.release();
    }

    /** Gives all memory back, at the writer's end. */
    void discard() {
        buffer.discard();
    }

    /** The memory in bytes that was granted. */
    long memoryUsed() {
        return memory.granted();
    }

    /** How often memory was refused. */
    long refusals() {
        return memory.refusals();
    }

    /** The records in regions that have ended. */
    long records() {
        return records;
    }

    /** The regions that ended because the buffer was full or memory was refused. */
    long spills() {
        return spills;
    }

    /** The time in which regions ended, in nanoseconds. */
    long regionNanos() {
        return regionNanos;
    }
}
