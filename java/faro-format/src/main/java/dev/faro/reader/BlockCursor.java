package dev.faro.reader;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.block.BlockKind;
import dev.faro.block.BlockReader;
import dev.faro.block.BlockReader.Sequence;
import dev.faro.block.Payloads;
import dev.faro.block.Place;
import dev.faro.header.Framing;
import dev.faro.header.Header;
import dev.faro.index.PartitionCounters;
import dev.faro.index.Region;
import dev.faro.message.Directory;
import java.io.Closeable;
import java.nio.ByteBuffer;

/**
 * The blocks of a partition, or of a range of partitions, in the order of PRT-1 and PRT-5. Blocks before the first
 * fault are delivered, nothing after it: a cursor that failed fails with the same error again. For one thread, which may
 * close it anywhere, so that its buffers serve the next; another thread that wants it to end interrupts that one, or
 * closes the reader: both make its next read fail with {@code io}.
 */
public final class BlockCursor implements Closeable {
    private static final int[] NO_SLOTS = {};

    private final Dataset dataset;
    private final Header header;
    private final Directory directory;
    private final int from;
    private final int to;
    private final boolean fromStart;
    private final PartitionCounters ownNext = new PartitionCounters();
    private ExtentReaders.ExtentReader reader;
    private FaroException failure;

    private int nextRegion;
    private Region region;
    private int[] stretches = NO_SLOTS;
    private int stretch;
    private int slot;
    private int shared;

    private long at;
    private long extentEnd;
    private long aheadEnd;
    private boolean extentBegins;
    /** Slot of the extent, or -1 in a shared one. */
    private int extentSlot;
    private int extentPartition;
    private long lastShared = -1;

    BlockCursor(Dataset dataset, Directory directory, int from, int to, int firstRegion) {
        this.dataset = dataset;
        this.header = dataset.header();
        this.directory = directory;
        this.from = from;
        this.to = to;
        this.fromStart = firstRegion == 0;
        this.nextRegion = firstRegion;
        this.reader = dataset.readers().take();
    }

    /**
     * Goes to the next block and makes all its checks but the decoding, which {@link #payload} does.
     *
     * @return false behind the last
     * @throws FaroException the first check of PRT-3 that fails, or {@code io}
     */
    public boolean next() throws FaroException {
        if (failure != null) {
            throw failure.again();
        }
        if (reader == null) {
            return false;
        }
        try {
            while (at == extentEnd) {
                if (!nextExtent() && !nextRegion()) {
                    close();
                    return false;
                }
            }
            readBlock();
            return true;
        } catch (FaroException e) {
            throw fail(e);
        }
    }

    private FaroException fail(FaroException e) {
        failure = e;
        return e;
    }

    private boolean nextRegion() throws FaroException {
        // A range of no partitions uses no region, and so meets no fault of one (REG-10).
        if (nextRegion == directory.size() || from == to) {
            return false;
        }
        region = dataset.regions().get(directory, nextRegion++);
        stretches = region.slotsOf(from, to);
        stretch = 0;
        slot = stretches[0];
        shared = 0;
        return true;
    }

    private boolean nextExtent() {
        if (region == null) {
            return false;
        }
        while (stretch < stretches.length) {
            int end = stretches[stretch + 1];
            while (slot < end) {
                if (begin(region.start(slot), region.start(slot + 1), region.start(end))) {
                    extentSlot = slot;
                    extentPartition = region.partitionOf(slot++);
                    return true;
                }
                slot++;
            }
            stretch += 2;
            slot = stretch < stretches.length ? stretches[stretch] : 0;
        }
        while (shared < region.sharedCount()) {
            int number = shared++;
            if (region.nextMember(number, from, to) >= 0) {
                begin(region.sharedStart(number), region.sharedEnd(number), region.sharedEnd(number));
                extentSlot = -1;
                extentPartition = BlockReader.NO_PARTITION;
                return true;
            }
        }
        return false;
    }

    private boolean begin(long start, long end, long ahead) {
        at = start;
        extentEnd = end;
        aheadEnd = ahead;
        extentBegins = true;
        return start < end;
    }

    private void readBlock() throws FaroException {
        BlockReader blocks = reader.blocks();
        blocks.read(at, extentEnd, aheadEnd, Place.EXTENT, extentPartition, expected());
        at = blocks.end();
        extentBegins = false;
        if (extentSlot < 0) {
            lastShared = blocks.sequence();
        } else {
            ownNext.set(extentPartition, blocks.sequence() + 1);
        }
    }

    /** PRT-4. The counters hold the sequence after the one that was read last, so 0 where none was. */
    private Sequence expected() {
        if (extentSlot < 0) {
            if (extentBegins) {
                return new Sequence(region.sharedFirstBlock(shared - 1), lastShared);
            }
            return header.selective() ? Sequence.above(lastShared) : Sequence.exactly(lastShared + 1);
        }
        long next = ownNext.get(extentPartition);
        if (header.selective()) {
            return new Sequence(extentBegins ? region.firstBlock(extentSlot) : -1, next - 1);
        }
        return next == 0 && !fromStart ? BlockReader.ANY_SEQUENCE : Sequence.exactly(next);
    }

    /** The partition of the block, or -1 if it is shared. */
    public int partition() {
        return extentPartition;
    }

    /** Whether the block is stored once for several partitions. */
    public boolean isShared() {
        return extentSlot < 0;
    }

    /** Whether a partition of the file reads this block. */
    public boolean isFor(int partition) {
        return isShared() ? region.isMember(shared - 1, partition) : partition == extentPartition;
    }

    /** The number of the block's region. */
    public int region() {
        return region.sequence();
    }

    /** The checked block, while the cursor has its buffers. */
    private BlockReader block() {
        if (reader == null) {
            throw new IllegalStateException("the cursor is closed or behind its last block");
        }
        return reader.blocks();
    }

    /** The block's kind, see {@link BlockKind}. */
    public int kind() {
        return block().kind();
    }

    /** The number of the block's codec. */
    public int codec() {
        return block().codec();
    }

    /** The block's number in its stream. */
    public long sequence() {
        return block().sequence();
    }

    /** Bytes of the plain payload. */
    public int plainSize() {
        return block().plainSize();
    }

    /** Where the block begins in the data or single file. */
    public long offset() {
        return block().offset();
    }

    /**
     * The plain payload, check 12 of BLK-7. The view is valid until the next call of this cursor, little-endian and
     * direct; for codec none nothing is copied.
     *
     * @throws FaroException {@code malformed-block} or {@code limit-exceeded} (COD)
     */
    public ByteBuffer payload() throws FaroException {
        if (failure != null) {
            throw failure.again();
        }
        try {
            return block().plainPayload(reader.decoder());
        } catch (FaroException e) {
            throw fail(e);
        }
    }

    /** The payload as stored, a view that is valid until the next call of this cursor. */
    public ByteBuffer storedPayload() {
        return block().storedPayload();
    }

    /**
     * The plain payload, checked against the file's framing (FRM-5).
     *
     * @throws FaroException as {@link #payload}, or {@code malformed-block}
     */
    public ByteBuffer framedPayload() throws FaroException {
        ByteBuffer payload = payload();
        try {
            checkFraming(reader.blocks(), payload, header.framing());
        } catch (FaroException e) {
            throw fail(e);
        }
        return payload;
    }

    /**
     * FRM-5 for one block.
     *
     * @return records of the block; for other framings than records, 0
     */
    static long checkFraming(BlockReader block, ByteBuffer payload, Framing framing) throws FaroException {
        if (block.kind() != BlockKind.DATA || framing == Framing.OPAQUE) {
            return 0;
        }
        long records = 0;
        if (framing == Framing.RECORDS) {
            records = Payloads.countRecords(payload);
        } else if (!Payloads.isArrowMessage(payload)) {
            records = -1;
        }
        if (records < 0) {
            throw block.fault(ErrorCode.MALFORMED_BLOCK, BlockReader.HEADER, "a payload of framing " + framing,
                    "other bytes");
        }
        return records;
    }

    Header header() {
        return header;
    }

    /** Gives the buffers back; what {@link #payload} returned is no longer valid. */
    @Override
    public void close() {
        if (reader != null) {
            dataset.readers().giveBack(reader);
            reader = null;
        }
    }
}
