package dev.faro.scheduler;

import dev.faro.FaroException;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Feed;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * One reading of a partition, or of a range of them, whose bytes a {@link Scheduler} brings: the blocks of
 * {@link dev.faro.reader.PartitionReader#partition} or {@link dev.faro.reader.PartitionReader#range}, in the same order. Checks and
 * decoding are made in the consumer's thread. For one thread at a time, but for {@link #close}, which may come from any
 * while nobody looks at a block.
 */
public final class Consumer implements Closeable {
    private static final long PATIENCE_NANOSECONDS = 1_000_000;

    private final ConsumerHost scheduler;
    private final Account account;
    private final Feed feed;
    private final AtomicBoolean asked = new AtomicBoolean();
    private volatile Runnable listener;
    private volatile Thread waiting;
    private final AtomicReference<Use> use = new AtomicReference<>(Use.FREE);
    /** What giving back throws while everything is given back; null at other times, when it may come out at once. */
    private Failures closing;

    /** Whether somebody polls, so that buffers are given back once, and not while they are looked at. */
    private enum Use {
        FREE,
        POLLED,
        /** Closed by another thread; the one that polls gives everything back. */
        CLOSED_WHILE_POLLED,
        CLOSED
    }

    Consumer(ConsumerHost scheduler, FileSweep<Account> file, int from, int to) throws FaroException {
        this.scheduler = scheduler;
        this.feed = new Feed(file.reader, from, to, this::taken);
        this.account = new Account(file, feed, this::notifyListener);
    }

    Account account() {
        return account;
    }

    private void taken(ByteBuffer buffer) {
        try {
            scheduler.taken(account, buffer);
        } catch (Throwable e) {
            if (closing == null) {
                throw e;
            }
            closing.add(e);
        }
    }

    /**
     * Goes to the next block, if its bytes are there; never waits, and reads nothing. Without an executor see
     * {@link Scheduler#serve}. What a pool throws when a buffer is given back comes out of this call, which may be made
     * again.
     *
     * @throws FaroException the first check of PRT-3 that fails; {@code io} if reading failed, with what failed as
     *     cause, or if the consumer or its scheduler was closed; again whenever this is called again
     */
    public Feed.State poll() throws FaroException {
        Feed.State state = pollOnce();
        if (state == Feed.State.NOT_YET) {
            asked.set(true);
            // What came before somebody could know that it is asked for.
            state = pollOnce();
            if (state != Feed.State.NOT_YET) {
                asked.set(false);
            }
        }
        return state;
    }

    private Feed.State pollOnce() throws FaroException {
        if (!use.compareAndSet(Use.FREE, Use.POLLED)) {
            if (use.get() == Use.POLLED) {
                throw new IllegalStateException("two threads poll one consumer");
            }
            throw Failures.ofReading(account.file.file, "a consumer that is open", new IOException("the consumer was closed"));
        }
        try {
            Feed.State state = pollFeed();
            if (state == Feed.State.END) {
                scheduler.ended(account);
            }
            return state;
        } catch (FaroException e) {
            scheduler.failed(account);
            giveAllBack().suppressIn(e);
            throw e;
        } finally {
            if (!use.compareAndSet(Use.POLLED, Use.FREE)) {
                use.set(Use.CLOSED);
                giveAllBack().rethrow();
            }
        }
    }

    private Feed.State pollFeed() throws FaroException {
        Feed.State state = feed.poll();
        FaroException end = state == Feed.State.NOT_YET ? scheduler.endOfAll() : null;
        if (end == null) {
            return state;
        }
        feed.endWith(end);
        return feed.poll();
    }

    private Failures giveAllBack() {
        Failures failures = new Failures();
        closing = failures;
        feed.close();
        closing = null;
        return failures;
    }

    /**
     * Goes to the next block, and waits for it; a scheduler without an executor is served meanwhile, and what such a
     * step throws comes out of this call, which may be made again.
     *
     * @return false after the last
     * @throws FaroException as {@link #poll}; {@code io} with an {@link InterruptedIOException} as cause if the thread
     *     is interrupted, which changes nothing: the call may be made again
     */
    public boolean next() throws FaroException {
        waiting = Thread.currentThread();
        try {
            while (true) {
                Feed.State state = poll();
                if (state != Feed.State.NOT_YET) {
                    return state == Feed.State.BLOCK;
                }
                if (Thread.currentThread().isInterrupted()) {
                    InterruptedIOException cause = new InterruptedIOException("the thread was interrupted");
                    throw FaroException.io(account.file.file.role(), account.file.file.path(), "bytes", cause);
                }
                if (scheduler.hasExecutor()) {
                    LockSupport.park(this);
                } else if (!scheduler.serve()) {
                    // Somebody else serves the file now, and may leave the next step to others.
                    LockSupport.parkNanos(this, PATIENCE_NANOSECONDS);
                }
            }
        } finally {
            waiting = null;
        }
    }

    /**
     * Sets what is to be called when {@link #poll} said that there is nothing yet, and now it may say something else:
     * bytes came, or the end, or a fault. Called for each such answer, and now and then once more, by a thread that
     * serves the scheduler, which it must not hold up; or by this call, when something is there.
     */
    public void listener(Runnable called) {
        listener = called;
        asked.set(true);
        if (scheduler.hasNews(account)) {
            notifyListener();
        }
    }

    /** Bytes came, or the end; called without the lock. */
    private void notifyListener() {
        try {
            if (asked.get() && listener != null && asked.compareAndSet(true, false)) {
                listener.run();
            }
        } finally {
            unpark();
        }
    }

    private void unpark() {
        Thread thread = waiting;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    /** The block that was gone to: of use is what the cursor tells of this block, not its {@code next}. */
    public BlockCursor block() {
        return feed.blocks();
    }

    /**
     * Takes its requests back and gives back what was read for it; what is being read for it is dropped. Another thread
     * that waits in {@link #next} gets {@code io}.
     */
    @Override
    public void close() {
        if (!scheduler.leave(account)) {
            return;
        }
        try {
            boolean mine = false;
            // Again if a thread began or ended to poll in between.
            while (!mine && !use.compareAndSet(Use.POLLED, Use.CLOSED_WHILE_POLLED)) {
                mine = use.compareAndSet(Use.FREE, Use.CLOSED);
            }
            if (mine) {
                giveAllBack().rethrow();
            }
        } finally {
            scheduler.left();
            unpark();
        }
    }
}
