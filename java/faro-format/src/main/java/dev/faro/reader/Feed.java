package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.codec.Decoder;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.reader.ExtentReaders;
import dev.faro.internal.reader.OutputReader;
import dev.faro.internal.storage.NotBrought;
import dev.faro.storage.Wanted;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntPredicate;

/**
 * A reading of a partition or a range. Its bytes come from elsewhere, for example from a scheduler. {@link #want} plans
 * the next bytes, {@link #bring} delivers them, and {@link #poll} checks and returns the blocks that are complete. The
 * blocks and their order are those of {@link PartitionReader#partition} and {@link PartitionReader#range}.
 *
 * <pre>{@code
 * while (feed.poll() != Feed.State.END) {
 *     if (feed.want(1 << 20)) {
 *         feed.bring(bytes(feed.wantedFrom(), feed.wantedTo()), feed.wantedFrom());
 *     }
 *     ...
 * }
 * }</pre>
 *
 * <p>One thread at a time calls {@code want} and {@code bring}, and one calls {@code poll} and uses the blocks. They
 * may be two threads.
 */
public final class Feed implements Closeable {
    private final long maxBlockSize;
    private final OutputReader output;
    private final Extents plan;
    /** The plan of a watch, which goes on when the output has more regions (FOL-7), or null. */
    private final RegionExtents growing;
    /** What is wanted besides blocks; null if the reader reads that itself. */
    private final FeedIndex index;
    private final boolean awaitsDictionaries;
    private final boolean direct;
    private final int currentPartition;
    private final ConcurrentLinkedQueue<Extent> extents = new ConcurrentLinkedQueue<>();
    private final FeedSource source;
    private final BlockReader blocks;
    private final BlockCursor cursor;
    private volatile boolean ended;
    private volatile FaroException planFault;
    /** The reason why no more regions come, although the output is not finished. */
    private volatile FaroException lastFault;

    private boolean inExtent;
    private long next;
    private long wantedFrom;
    private long wantedTo;
    private List<Wanted> wantedIndex = List.of();

    /** An extent that was planned. */
    private record Extent(long start, long end, boolean shared, int partition, long firstBlock, int region,
            IntPredicate readers) {}

    /** The state of a feed after {@link #poll}. */
    public enum State {
        /** There is a block. All of its checks were made, except the decoding. */
        BLOCK,
        /** Bytes have to be brought first. */
        NOT_YET,
        /** There are no more blocks. */
        END
    }

    /** Receives the buffers that were brought, when nothing in them is needed any more. */
    public interface Returns {
        /** Receives a buffer. The thread that polls calls this. */
        void giveBack(ByteBuffer bytes);
    }

    /** The planned extents, for the cursor. */
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
        int currentPartition() {
            return currentPartition;
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
     * Makes a reading of the partitions in [from, to), from region 0 on.
     *
     * @param returns receives each buffer that was brought, once
     * @throws FaroException {@code invalid-argument} if the file does not have all of the partitions
     */
    public Feed(PartitionReader reader, int from, int to, Returns returns) throws FaroException {
        Objects.requireNonNull(reader, "reader");
        Objects.requireNonNull(returns, "returns");
        this.output = reader.output();
        output.checkRange(from, to);
        this.maxBlockSize = output.limits().maxBlockSize();
        this.source = new FeedSource(returns::giveBack);
        this.blocks = output.readers().blocksOf(source);
        this.currentPartition = to - from == 1 ? from : -1;
        this.index = FeedIndex.of(output);
        this.awaitsDictionaries = index != null && output.dictionaries() != null;
        // A reader that reads itself has the messages in its cache, for all feeds of a scheduler.
        this.direct = index != null && output.directLookup() != null && to - from == 1;
        this.plan = direct ? new LookedUpExtents(output.directLookup(), blocks, output.header().selective(), from, 0)
                : new RegionExtents(output.regions(), output.directory(), blocks, from, to, 0);
        this.growing = null;
        this.cursor = new BlockCursor(output, new ExtentReaders.ExtentReader(blocks, new Decoder()),
                new Planned(), true);
    }

    /** Makes a watch. */
    private Feed(OutputReader output, int partition, Returns returns) {
        this.output = output;
        this.maxBlockSize = output.limits().maxBlockSize();
        this.source = new FeedSource(returns::giveBack);
        this.blocks = output.readers().blocksOf(source);
        this.currentPartition = partition;
        this.index = null;
        this.awaitsDictionaries = false;
        this.direct = false;
        this.growing = new RegionExtents(output.regions(), output.directory(), blocks, partition, partition + 1, 0);
        this.plan = growing;
        this.cursor = new BlockCursor(output, new ExtentReaders.ExtentReader(blocks, new Decoder()),
                new Planned(), true);
    }

    /**
     * Makes a reading of a partition, from region 0 on, that goes on as the output grows (FOL-7). If {@link #want} finds
     * nothing and the feed is not {@linkplain #isPlanned planned} to its end, ask again when its follower has polled. A
     * scheduler's {@code watch} does that.
     *
     * @param reader a {@link dev.faro.follow.Follower}; the output of another reader does not grow
     * @param returns receives each buffer that was brought, once
     * @throws FaroException {@code invalid-argument} if the file does not have the partition
     */
    public static Feed watch(PartitionReader reader, int partition, Returns returns) throws FaroException {
        Objects.requireNonNull(reader, "reader");
        Objects.requireNonNull(returns, "returns");
        OutputReader output = reader.output();
        output.checkPartition(partition);
        return new Feed(output, partition, returns);
    }

    /**
     * Plans the next bytes: a part of an extent, or several adjacent extents.
     *
     * <p>If the reader was made by {@link Opening}, the next bytes can also be some of the index, or a dictionary:
     * {@link #wantedIndex} names them, and {@link Opening#bring} takes them. Blocks that were brought to the opening
     * are not wanted again. Call this again each time that {@link #poll} returns {@code NOT_YET}, even after it
     * returned false.
     *
     * @param maxBytes the maximum number of bytes of blocks
     * @return false if there is nothing more to bring, or of a watch nothing now ({@link #isPlanned}); otherwise {@link #wantedFrom} and {@link #wantedTo} are the
     *     bounds of the bytes, unless {@link #wantedIndex} names some
     * @throws FaroException a fault of a region message. The caller passes it to {@link #endWith} to end the reading,
     *     or calls this again
     */
    public boolean want(long maxBytes) throws FaroException {
        if (index == null) {
            return wantBlocks(maxBytes);
        }
        wantedIndex = index.wantedDictionary();
        if (!wantedIndex.isEmpty()) {
            return true;
        }
        try {
            boolean wanted = wantBlocks(maxBytes);
            index.forget(plan.regionsDone());
            return wanted && !bringHeld();
        } catch (FaroException e) {
            List<Wanted> missing = NotBrought.wantedBy(e);
            if (missing.isEmpty()) {
                throw e;
            }
            wantedIndex = direct ? missing : index.withFollowing(missing, plan.regionsDone());
            return true;
        }
    }

    /** Brings the wanted blocks, if they were brought to the opening. */
    private boolean bringHeld() {
        ByteBuffer held = index.held(wantedFrom, wantedTo);
        if (held != null) {
            source.addOwn(held, wantedFrom);
        }
        return held != null;
    }

    private boolean wantBlocks(long maxBytes) throws FaroException {
        if (ended || !inExtent && !planExtent()) {
            return false;
        }
        wantedFrom = next;
        wantedTo = next;
        while (inExtent && next == wantedTo && wantedTo - wantedFrom < maxBytes) {
            wantedTo = Math.min(plan.end, wantedFrom + maxBytes);
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
            // The extent comes after these bytes: the next call plans it again.
            inExtent = false;
        }
    }

    private boolean planExtent() throws FaroException {
        // Before the regions are looked at: what comes in between is found by the next call.
        boolean isLast = growing == null || output.isFinished();
        FaroException fault = lastFault;
        if (growing != null) {
            growing.goOn(output.directory(), blocks);
        }
        if (!plan.next()) {
            if (!isLast && fault != null) {
                throw fault;
            }
            ended = isLast;
            return false;
        }
        extents.add(new Extent(plan.start, plan.end, plan.shared, plan.partition, plan.firstBlock, plan.region,
                plan.readers()));
        next = plan.start;
        inExtent = true;
        return true;
    }

    /** Whether everything was planned. If it was not, and nothing is wanted, the output of a watch is still written. */
    public boolean isPlanned() {
        return ended;
    }

    /**
     * Says why no more regions come, although the output is not finished: {@link #want} throws that after the regions
     * that are there. The first reason counts. It has no effect on a reading that is not a watch.
     */
    public void endOfRegions(FaroException fault) {
        Objects.requireNonNull(fault, "fault");
        if (lastFault == null) {
            lastFault = fault;
        }
    }

    /** The offset of the wanted bytes in the data file or single file. */
    public long wantedFrom() {
        return wantedFrom;
    }

    /** The offset after the wanted bytes. */
    public long wantedTo() {
        return wantedTo;
    }

    /**
     * The wanted bytes that {@link Opening#bring} takes: of region messages, also those that are needed soon, or of a
     * dictionary. Empty if bytes of blocks are wanted, and always if the reader was not made by {@link Opening}.
     */
    public List<Wanted> wantedIndex() {
        return wantedIndex;
    }

    /**
     * Brings the next wanted bytes, or some of them: those from the buffer's position to its limit. The buffer must be
     * direct, and must not be changed until it is given back.
     *
     * @param offset the offset of the first byte in the file
     */
    public void bring(ByteBuffer bytes, long offset) {
        Objects.requireNonNull(bytes, "bytes");
        source.add(bytes, offset);
    }

    /**
     * Ends the reading with a fault, after the blocks that were planned and brought so far. If there is a fault
     * already, it stays.
     */
    public void endWith(FaroException fault) {
        Objects.requireNonNull(fault, "fault");
        if (planFault == null) {
            planFault = fault;
        }
        ended = true;
    }

    /**
     * Moves to the next block, if it is complete.
     *
     * @throws FaroException the first check of PRT-3 that fails, or the fault that was passed to {@link #endWith}; each
     *     later call throws it again
     */
    public State poll() throws FaroException {
        cursor.checkUsable();
        try {
            return advance();
        } catch (FaroException e) {
            // What the cursor found has made it fail already.
            throw cursor.hasFailed() ? e : cursor.fail(e);
        }
    }

    private State advance() throws FaroException {
        if (cursor.atEndOfExtent() && extents.isEmpty()) {
            // The end is set after everything that was planned, so the queue is complete when the end is seen.
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

    /** Whether the bytes of the block at an offset are complete, as far as its checks need them. */
    private boolean isWhole(long at, long left) throws FaroException {
        if (!source.fill(at, (int) Math.min(left, BlockHeader.SIZE))) {
            return false;
        }
        if (left < BlockHeader.SIZE) {
            return true;
        }
        long stored = source.u32(at);
        long size = BlockHeader.sizeInFile(stored);
        if (size <= left && stored <= maxBlockSize && !source.fill(at, (int) size)) {
            return false;
        }
        return !awaitsDictionaries || index.hasDictionary((int) (source.u32(at + BlockHeader.KIND) >>> 16), at);
    }

    /** The block that {@link #poll} moved to. Use the methods that describe the block, not {@code next}. */
    public BlockCursor blocks() {
        return cursor;
    }

    /** Gives all buffers back. No other thread may poll or bring at the same time. */
    @Override
    public void close() {
        cursor.close();
        source.close();
    }
}
