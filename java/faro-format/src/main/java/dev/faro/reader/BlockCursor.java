package dev.faro.reader;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.codec.Codec;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.Context;
import dev.faro.internal.message.Directory;
import dev.faro.internal.reader.ExtentReaders;
import dev.faro.internal.reader.OutputReader;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The blocks of one or more partitions, in the order of PRT-1 and PRT-5. It delivers the blocks before the first fault,
 * and nothing after it: a cursor that has failed fails with the same error again.
 *
 * <pre>{@code
 * try (BlockCursor blocks = reader.partition(7)) {
 *     while (blocks.next()) {
 *         consume(blocks.kind(), blocks.payload());
 *     }
 * }
 * }</pre>
 *
 * <p>For one thread, which may close the cursor at any block; its buffers then serve the next cursor. To stop a cursor
 * from another thread, interrupt its thread or close the reader: the cursor's next read then fails with {@code io}.
 */
public final class BlockCursor implements Closeable {
    private static final int COUNTED_TOGETHER = 1000;

    private final OutputReader output;
    private final FileHeader header;
    private final Extents extents;
    /** The extents of a cursor that goes on when the output has more regions (FOL-7), or null. */
    private final RegionExtents growing;
    /** How many regions of those were taken into account. */
    private int seen;
    private final Sequences sequences;
    private ExtentReaders.ExtentReader reader;
    private FaroException failure;
    private BlockReader blocks;
    private long at;
    private boolean begun;
    private boolean closed;
    /** Blocks that were delivered, and not counted in the reader's figures yet. */
    private int counted;
    private long plainBytes;
    private long storedBytes;

    BlockCursor(OutputReader output, ExtentReaders.ExtentReader reader, Extents extents, boolean fromStart) {
        this.output = output;
        this.header = output.header();
        this.reader = reader;
        this.extents = extents;
        this.growing = null;
        this.sequences = new Sequences(header.selective(), fromStart);
    }

    /** A cursor that goes on when the output has more regions. */
    private BlockCursor(OutputReader output, RegionExtents growing, boolean fromStart) {
        this.output = output;
        this.header = output.header();
        this.extents = growing;
        this.growing = growing;
        this.sequences = new Sequences(header.selective(), fromStart);
    }

    /** Reads a partition of a growing output as its regions come (FOL-7). It takes buffers when there is a region. */
    static BlockCursor watch(OutputReader output, int partition, int firstRegion) {
        RegionExtents extents = new RegionExtents(
                output.regions(), output.directory(), null, partition, partition + 1, firstRegion);
        return new BlockCursor(output, extents, firstRegion == 0);
    }

    /**
     * Moves to the next block and makes all its checks except the decoding, which {@link #payload} does.
     *
     * @return false after the last block; of a {@linkplain dev.faro.follow.Follower#watch watch}, if there is no block now
     * @throws FaroException the first check of PRT-3 that fails, or {@code io}
     */
    public boolean next() throws FaroException {
        if (failure != null) {
            throw failure.again();
        }
        if (reader == null && !goesOn()) {
            return false;
        }
        try {
            while (at == extents.end && !nextExtent()) {
                rest();
                if (!goesOn()) {
                    return false;
                }
            }
            blocks.read(at, extents.end, extents.aheadEnd, Context.EXTENT, extents.partition, sequences.exactly,
                    sequences.above);
            at = blocks.end();
            sequences.read(blocks.sequence());
            plainBytes += blocks.plainSize();
            storedBytes += blocks.storedSize();
            if (++counted == COUNTED_TOGETHER) {
                count();
            }
            return true;
        } catch (FaroException e) {
            throw fail(e);
        } catch (RuntimeException | Error e) {
            // A budget or a storage has failed in the middle of the step: another call would pass over blocks.
            failure = output.files().data().io("to read on", new IOException(e));
            try {
                close();
            } catch (RuntimeException second) {
                e.addSuppressed(second);
            }
            throw e;
        }
    }

    /** Whether a growing output has more regions than were read. The cursor takes buffers again then. */
    private boolean goesOn() {
        if (growing == null || closed) {
            return false;
        }
        Directory now = output.directory();
        if (now.size() == seen) {
            return false;
        }
        reader = output.readers().take();
        growing.goOn(now, reader.blocks());
        // Not before: taking buffers may fail, and the next call tries again.
        seen = now.size();
        return true;
    }

    private void count() {
        if (counted > 0) {
            output.delivered().add(counted, plainBytes, storedBytes);
            counted = 0;
            plainBytes = 0;
            storedBytes = 0;
        }
    }

    private boolean nextExtent() throws FaroException {
        if (begun) {
            sequences.endExtent();
        }
        begun = extents.next();
        if (!begun) {
            return false;
        }
        at = extents.start;
        blocks = extents.blocks();
        sequences.beginExtent(extents);
        return true;
    }

    /** The offset of the next block, if the extent has one. */
    long at() {
        return at;
    }

    /** The size of the rest of the extent, from there on, in bytes. */
    long left() {
        return extents.end - at;
    }

    /** Throws the error that the cursor failed with, if there is one. */
    void checkUsable() throws FaroException {
        if (failure != null) {
            throw failure.again();
        }
    }

    /** Whether {@link #next} would move to another extent. */
    boolean atEndOfExtent() {
        return at == extents.end;
    }

    /** Whether the cursor has failed. */
    boolean hasFailed() {
        return failure != null;
    }

    /** Makes the cursor fail with an error. It gives its buffers back. */
    FaroException fail(FaroException e) {
        failure = e;
        close();
        return output.news().fault(e);
    }

    /** The partition in the block's header, or -1 if the block is shared. */
    public int partition() {
        return extents.partition;
    }

    /**
     * The partition that is being read, also at a shared block. It is -1 in a {@link PartitionReader#range range} of
     * several partitions, where {@link #isFor} tells which partitions read a block.
     */
    public int reading() {
        return extents.currentPartition();
    }

    /** Whether the block is stored once for several partitions. */
    public boolean isShared() {
        return extents.shared;
    }

    /**
     * Whether a partition of the file reads this block. When partitions are read
     * {@linkplain PartitionReader#byPartition one after another}, this is true only for the current one; with
     * {@link Lookup#DIRECT}, only for the partition that is being read.
     */
    public boolean isFor(int partition) {
        return extents.isFor(partition);
    }

    /** The number of the region that contains the block. */
    public int region() {
        return extents.region;
    }

    /** The current block, while the cursor has its buffers. For other packages of this library, not for callers. */
    @SuppressWarnings("exports")
    public BlockReader block() {
        if (reader == null) {
            throw new IllegalStateException("the cursor is closed, has failed, or is after its last block");
        }
        return blocks;
    }

    /** The block's kind, see {@link BlockKind}. */
    public int kind() {
        return block().kind();
    }

    /** How the block's payload is compressed. */
    public Codec codec() {
        return block().codec();
    }

    /** The number of the dictionary that the block was compressed with, or 0. */
    public int dictionary() {
        return block().dictionary();
    }

    /** The sequence of the block in its stream (BLK-3). */
    public long sequence() {
        return block().sequence();
    }

    /** The size of the plain payload in bytes. */
    public int plainSize() {
        return block().plainSize();
    }

    /** The offset of the block in the data file or single file. */
    public long offset() {
        return block().offset();
    }

    /**
     * The plain payload, after check 12 of BLK-7: a direct, little-endian view, which is valid until the next call of
     * this cursor. With codec {@code none} nothing is copied.
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

    /** The stored payload, as a view that is valid until the next call of this cursor. */
    public ByteBuffer storedPayload() {
        return block().storedPayload();
    }

    /**
     * The plain payload, after checking the file's framing (FRM-5).
     *
     * @throws FaroException as {@link #payload}; or {@code malformed-block} if the payload does not have the framing
     */
    public ByteBuffer framedPayload() throws FaroException {
        ByteBuffer payload = payload();
        try {
            blocks.countRecords(payload, header.framing());
        } catch (FaroException e) {
            throw fail(e);
        }
        return payload;
    }

    FileHeader header() {
        return header;
    }

    /** Releases the buffers. Results of {@link #payload} are not valid any more. */
    @Override
    public void close() {
        closed = true;
        rest();
    }

    /** Gives the buffers back. */
    private void rest() {
        count();
        if (reader != null) {
            ExtentReaders.ExtentReader lent = reader;
            reader = null;
            try {
                extents.release();
            } finally {
                if (extents.lendsBlocks()) {
                    output.readers().giveBack(lent);
                }
            }
        }
    }
}
