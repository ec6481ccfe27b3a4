package dev.faro.hybrid;

import dev.faro.FaroException;
import dev.faro.follow.Follower;
import dev.faro.reader.BlockCursor;
import java.io.Closeable;

/**
 * Reads a partition of a hybrid store while it is written (HYB-3): {@link HybridStore#open}.
 *
 * <pre>{@code
 * while (consumer.next()) {
 *     consume(consumer.block().kind(), consumer.block().payload());
 * }
 * // None now. The listener of open is called when there may be more, unless consumer.isFinished().
 * }</pre>
 *
 * <p>For one thread at a time.
 */
public final class HybridConsumer implements Closeable {
    private final Image image;
    private final int partition;
    private final HybridPosition start;
    /** Null unless the store is selective. */
    private final Progress progress;
    private final Runnable available;
    private BlockCursor watch;
    private boolean finished;
    private boolean closed;
    private int region;
    private long own;
    private long shared;

    HybridConsumer(Image image, int partition, HybridPosition start, Progress progress, Runnable available) {
        this.image = image;
        this.partition = partition;
        this.start = start;
        this.progress = progress;
        this.available = available;
        this.region = start.region();
        this.own = start.own();
        this.shared = start.shared();
    }

    /**
     * Moves to the next block, if there is one now.
     *
     * @return false if there is none now; if then {@link #isFinished}, there will be none any more. Otherwise the
     *     listener is called, once, when this call should be made again
     * @throws FaroException the fault of a block, or the failure of the store
     */
    public boolean next() throws FaroException {
        if (closed) {
            throw FaroException.invalidArgument("an open consumer", "one that was closed");
        }
        try {
            return moves();
        } catch (FaroException missed) {
            // The bytes may be gone because the store has failed, or was closed, meanwhile.
            image.checkUsable();
            throw missed;
        }
    }

    private boolean moves() throws FaroException {
        while (!finished) {
            image.checkUsable();
            if (watch != null && takes()) {
                return true;
            }
            // Before looking: what comes after it is not overlooked.
            long seen = image.changes();
            Follower reader = image.reader();
            if (reader != null && moves(reader)) {
                return true;
            }
            if (!finished && image.await(seen, available)) {
                return false;
            }
        }
        return false;
    }

    private boolean moves(Follower reader) throws FaroException {
        boolean ended = reader.poll();
        if (watch == null) {
            watch = reader.watch(partition, start.region());
        }
        // Before looking: another consumer may poll meanwhile, and what comes then was not read.
        int known = reader.regionCount();
        if (takes()) {
            return true;
        }
        region = Math.max(region, known);
        image.moveTo(progress, region);
        finished = ended;
        return false;
    }

    /** Moves to the next block that was not delivered before the position. */
    private boolean takes() throws FaroException {
        while (watch.next()) {
            long sequence = watch.sequence();
            if (watch.region() != region) {
                region = watch.region();
                image.moveTo(progress, region);
            }
            if (sequence >= (watch.isShared() ? start.shared() : start.own())) {
                delivered(watch.isShared(), sequence);
                return true;
            }
        }
        return false;
    }

    private void delivered(boolean isShared, long sequence) {
        if (isShared) {
            shared = sequence + 1;
        } else {
            own = sequence + 1;
        }
        if (progress != null) {
            progress.delivered(isShared, sequence);
        }
    }

    /** Whether the store is finished, and all of the partition was delivered. */
    public boolean isFinished() {
        return finished;
    }

    /** Where a later consumer of a full store can go on after the current block. */
    public HybridPosition position() {
        return new HybridPosition(region, own, shared);
    }

    /** The partition that is read. */
    public int partition() {
        return partition;
    }

    /**
     * The block that {@link #next} moved to; its cursor is for that block only.
     *
     * @throws IllegalStateException before the first block
     */
    public BlockCursor block() {
        if (watch == null) {
            throw new IllegalStateException("next has not returned true");
        }
        return watch;
    }

    /** Gives the buffers back. Of a selective store, the partition cannot be opened again. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            if (watch != null) {
                watch.close();
            }
            image.leave();
        }
    }
}
