package dev.faro.reader;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.Context;
import dev.faro.internal.reader.ExtentReaders;
import dev.faro.internal.reader.OutputReader;
import java.io.Closeable;
import java.nio.ByteBuffer;

/**
 * The blocks of a partition, or of several, in the order of PRT-1 and PRT-5. Blocks before the first fault are
 * delivered, nothing after it: a cursor that failed fails with the same error again. For one thread, which may close it
 * anywhere, so that its buffers serve the next; another thread that wants it to end interrupts that one, or closes the
 * reader: both make its next read fail with {@code io}.
 */
public final class BlockCursor implements Closeable {
    private final OutputReader output;
    private final FileHeader header;
    private final Extents extents;
    private final Sequences sequences;
    private ExtentReaders.ExtentReader reader;
    private FaroException failure;
    private BlockReader blocks;
    private long at;
    private boolean begun;

    BlockCursor(OutputReader output, ExtentReaders.ExtentReader reader, Extents extents, boolean fromStart) {
        this.output = output;
        this.header = output.header();
        this.reader = reader;
        this.extents = extents;
        this.sequences = new Sequences(header.selective(), fromStart);
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
            if (at == extents.end && !nextExtent()) {
                close();
                return false;
            }
            blocks.read(at, extents.end, extents.aheadEnd, Context.EXTENT, extents.partition, sequences.exactly,
                    sequences.above);
            at = blocks.end();
            sequences.read(blocks.sequence());
            return true;
        } catch (FaroException e) {
            throw fail(e);
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

    /** Where the next block begins, if the extent goes on. */
    long at() {
        return at;
    }

    /** Bytes of the extent from there on. */
    long left() {
        return extents.end - at;
    }

    /** Throws what the cursor failed with, if it did. */
    void checkUsable() throws FaroException {
        if (failure != null) {
            throw failure.again();
        }
    }

    /** Whether {@link #next} would go to another extent. */
    boolean atEndOfExtent() {
        return at == extents.end;
    }

    /** Fails for a reason that lies outside of the blocks. */
    FaroException fail(FaroException e) {
        failure = e;
        return e;
    }

    /** The partition of the block, or -1 if it is shared. */
    public int partition() {
        return extents.partition;
    }

    /**
     * The partition whose blocks are being read, also of a shared block; -1 in a {@link PartitionReader#range range} of other
     * than one partition, where each block is for all that {@link #isFor} names.
     */
    public int reading() {
        return extents.turn();
    }

    /** Whether the block is stored once for several partitions. */
    public boolean isShared() {
        return extents.shared;
    }

    /**
     * Whether a partition of the file reads this block; of {@link PartitionReader#partitions several} that are read one after
     * another, only the one whose turn it is. With {@link Lookup#DIRECT} nothing is known of others than the one
     * that is read.
     */
    public boolean isFor(int partition) {
        return extents.isFor(partition);
    }

    /** The number of the block's region. */
    public int region() {
        return extents.region;
    }

    /** The checked block, while the cursor has its buffers. */
    private BlockReader block() {
        if (reader == null) {
            throw new IllegalStateException("the cursor is closed or behind its last block");
        }
        return blocks;
    }

    /** The block's kind, see {@link BlockKind}. */
    public int kind() {
        return block().kind();
    }

    /** The number of the block's codec. */
    public int codec() {
        return block().codec();
    }

    /** The number of the dictionary that the block is compressed with, or 0. */
    public int dictionary() {
        return block().dictionary();
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
            blocks.countRecords(payload, header.framing());
        } catch (FaroException e) {
            throw fail(e);
        }
        return payload;
    }

    FileHeader header() {
        return header;
    }

    /** Gives the buffers back; what {@link #payload} returned is no longer valid. */
    @Override
    public void close() {
        if (reader != null) {
            if (extents.lendsBlocks()) {
                output.readers().giveBack(reader);
            }
            reader = null;
        }
    }
}
