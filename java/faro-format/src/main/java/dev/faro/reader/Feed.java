package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.codec.Decoder;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.reader.ExtentReaders;
import dev.faro.internal.reader.OutputReader;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntPredicate;

/**
 * The reading of a partition or a range whose bytes somebody else brings, such as a scheduler: {@link #want} says which
 * bytes are next, {@link #bring} hands them over, and {@link #poll} checks and delivers the blocks that are whole. What
 * is delivered, and in which order, is what {@link PartitionReader#partition} and {@link PartitionReader#range} deliver.
 *
 * <p>One thread at a time wants and brings, one takes (polls, looks at blocks); they may be two.
 */
public final class Feed implements Closeable {
    private final long maxBlockSize;
    private final RegionExtents plan;
    private final int turn;
    private final ConcurrentLinkedQueue<Extent> extents = new ConcurrentLinkedQueue<>();
    private final FeedSource source;
    private final BlockReader blocks;
    private final BlockCursor cursor;
    private volatile boolean ended;
    private volatile FaroException planFault;

    private boolean inExtent;
    private long next;
    private long wantedFrom;
    private long wantedTo;

    /** An extent as the planning side found it. */
    private record Extent(long start, long end, boolean shared, int partition, long firstBlock, int region,
            IntPredicate readers) {}

    /** Whether there is a block. */
    public enum State {
        /** There is one, and its checks were made but the decoding. */
        BLOCK,
        /** Bytes have to be brought first. */
        NOT_YET,
        /** There is no other. */
        END
    }

    /** Gets back the buffers that were brought, when nothing in them is needed any more. */
    public interface Returns {
        /** The bytes of a buffer were taken; called by the thread that takes. */
        void giveBack(ByteBuffer bytes);
    }

    /** The extents that were planned, for the cursor. */
    private final class Planned extends Extents {
        private IntPredicate readers;

        @Override
        boolean next() {
            Extent extent = extents.poll();
            if (extent == null) {
                return false;
            }
            set(extent.shared, extent.partition, extent.start, extent.end, extent.end);
            firstBlock = extent.firstBlock;
            region = extent.region;
            readers = extent.readers;
            return true;
        }

        @Override
        boolean isFor(int which) {
            return shared ? readers.test(which) : which == partition;
        }

        @Override
        int turn() {
            return turn;
        }

        @Override
        BlockReader blocks() {
            return blocks;
        }

        @Override
        boolean lendsBlocks() {
            return false;
        }
    }

    /**
     * A reading from region 0 on of the partitions from {@code from} to before {@code to}.
     *
     * @throws FaroException {@code invalid-argument} if the file does not have all of them
     */
    public Feed(PartitionReader reader, int from, int to, Returns returns) throws FaroException {
        OutputReader output = reader.output();
        output.checkRange(from, to);
        this.maxBlockSize = output.limits().maxBlockSize();
        this.source = new FeedSource(returns::giveBack);
        this.blocks = output.readers().blocksOf(source);
        this.turn = to - from == 1 ? from : -1;
        this.plan = new RegionExtents(output.regions(), output.directory(), blocks, from, to, 0);
        this.cursor = new BlockCursor(output, new ExtentReaders.ExtentReader(blocks, new Decoder()),
                new Planned(), true);
    }

    /**
     * Plans the next bytes: a stretch of an extent, or of several that lie side by side.
     *
     * @param most bytes of it
     * @return false if there is nothing more to bring; else {@link #wantedFrom} and {@link #wantedTo} say what is
     * @throws FaroException what reading a region message finds: {@link #endWith} makes it the reading's end, or this
     *     is called again
     */
    public boolean want(long most) throws FaroException {
        if (ended || !inExtent && !planExtent()) {
            return false;
        }
        wantedFrom = next;
        wantedTo = next;
        while (inExtent && next == wantedTo && wantedTo - wantedFrom < most) {
            wantedTo = Math.min(plan.end, wantedFrom + most);
            next = wantedTo;
            if (next == plan.end) {
                inExtent = false;
                lookAhead();
            }
        }
        return true;
    }

    private void lookAhead() {
        try {
            planExtent();
        } catch (FaroException e) {
            // It belongs behind this stretch: the next call finds it again.
            inExtent = false;
        }
    }

    private boolean planExtent() throws FaroException {
        if (!plan.next()) {
            ended = true;
            return false;
        }
        extents.add(new Extent(plan.start, plan.end, plan.shared, plan.partition, plan.firstBlock, plan.region,
                plan.readers()));
        next = plan.start;
        inExtent = true;
        return true;
    }

    /** Where the bytes that are wanted begin in the data or single file. */
    public long wantedFrom() {
        return wantedFrom;
    }

    /** Where the bytes that are wanted end. */
    public long wantedTo() {
        return wantedTo;
    }

    /**
     * Brings the next bytes that are wanted, or some of them: those from a buffer's position to its limit. Nobody
     * changes them until they are given back. The buffer is direct.
     *
     * @param offset of the first in the file
     */
    public void bring(ByteBuffer bytes, long offset) {
        source.add(bytes, offset);
    }

    /**
     * Ends the reading with a fault, after what was planned and brought so far; instead of bytes that were wanted. The
     * first fault stays.
     */
    public void endWith(FaroException fault) {
        if (planFault == null) {
            planFault = fault;
        }
        ended = true;
    }

    /**
     * Goes to the next block, if it is whole.
     *
     * @throws FaroException the first check of PRT-3 that fails, or the fault that {@link #endWith} was called with;
     *     again whenever this is called again
     */
    public State poll() throws FaroException {
        cursor.checkUsable();
        if (cursor.atEndOfExtent() && extents.isEmpty()) {
            // What is planned before the end is in the queue before the end is seen.
            if (!ended || !extents.isEmpty()) {
                source.releaseBefore(cursor.at());
                return State.NOT_YET;
            }
            source.close();
            if (planFault != null) {
                throw cursor.fail(planFault);
            }
            return cursor.next() ? State.BLOCK : State.END;
        }
        Extent coming = extents.peek();
        boolean begins = cursor.atEndOfExtent();
        long at = begins ? coming.start : cursor.at();
        long left = begins ? coming.end - at : cursor.left();
        if (!isWhole(at, left)) {
            if (planFault != null && !isWhole(at, left)) {
                throw cursor.fail(planFault);
            }
            return State.NOT_YET;
        }
        cursor.next();
        return State.BLOCK;
    }

    /** Whether the block at an offset is there as far as its checks need it. */
    private boolean isWhole(long at, long left) {
        if (!source.fill(at, (int) Math.min(left, BlockHeader.SIZE))) {
            return false;
        }
        if (left < BlockHeader.SIZE) {
            return true;
        }
        long stored = source.u32(at);
        long size = BlockHeader.sizeInFile(stored);
        return size > left || stored > maxBlockSize || source.fill(at, (int) size);
    }

    /** The block that {@link #poll} went to. Only what it tells of this block is of use, not its {@code next}. */
    public BlockCursor blocks() {
        return cursor;
    }

    /** Gives all buffers back; only while nobody polls or brings. */
    @Override
    public void close() {
        cursor.close();
        source.close();
    }
}
