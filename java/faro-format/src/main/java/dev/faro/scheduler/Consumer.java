package dev.faro.scheduler;

import dev.faro.FaroException;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Feed;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * A reading of a partition or of a range, with its bytes read by a {@link Scheduler}. The blocks and their order are
 * those of {@link dev.faro.reader.PartitionReader#partition} or {@link dev.faro.reader.PartitionReader#range}. The
 * consumer's thread makes the checks and decodes. For one thread at a time, except {@link #close}, which any thread may
 * call while no thread uses a block.
 *
 * <pre>{@code
 * try (Consumer consumer = scheduler.partition(reader, 7)) {
 *     while (consumer.next()) {
 *         consume(consumer.block().payload());
 *     }
 * }
 * }</pre>
 */
public final class Consumer implements Closeable {
    private static final long PATIENCE_NANOSECONDS = 1_000_000;

    private final ConsumerHost scheduler;
    private final Account account;
    private final Feed feed;
    private final AtomicBoolean newsWanted = new AtomicBoolean();
    private volatile Runnable listener;
    private volatile Thread waiting;
    private final AtomicReference<Use> use = new AtomicReference<>(Use.FREE);
    /**
     * Collects exceptions while all buffers are given back; null at other times, when an exception is thrown at once.
     */
    private Failures closing;

    /** Whether a thread polls, so that buffers are given back once, and not while a block is in use. */
    private enum Use {
        FREE,
        POLLED,
        /** Closed by another thread; the polling thread gives all buffers back. */
        CLOSED_WHILE_POLLED,
        CLOSED
    }

    /** Makes the feed of a consumer. */
    interface Reading {
        Feed feed(Feed.Returns returns) throws FaroException;
    }

    Consumer(ConsumerHost scheduler, FileSweep<Account> file, Reading reading) throws FaroException {
        this.scheduler = scheduler;
        this.feed = reading.feed(this::taken);
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
     * Moves to the next block, if its bytes have arrived. Never waits, and reads nothing. Without an executor, see
     * {@link Scheduler#serve}. If giving a buffer back throws an exception, this call throws it, and may be made again.
     *
     * @throws FaroException the first check of PRT-3 that fails; {@code io} if reading failed, with the failure as
     *     cause, or if the consumer or its scheduler was closed; each later call throws it again
     */
    public Feed.State poll() throws FaroException {
        Feed.State state = pollOnce();
        if (state == Feed.State.NOT_YET) {
            newsWanted.set(true);
            // Bytes may have arrived before the flag was set.
            state = pollOnce();
            if (state == Feed.State.NOT_YET) {
                scheduler.waits();
            } else {
                newsWanted.set(false);
            }
        }
        return state;
    }

    private Feed.State pollOnce() throws FaroException {
        if (!use.compareAndSet(Use.FREE, Use.POLLED)) {
            if (use.get() == Use.POLLED) {
                throw new IllegalStateException("two threads poll one consumer");
            }
            throw Failures.ofReading(
                    account.file.file, "a consumer that is open", new IOException("the consumer was closed"));
        }
        try {
            Feed.State state = pollFeed();
            if (state == Feed.State.END && scheduler.ended(account)) {
                scheduler.left();
            }
            return state;
        } catch (FaroException e) {
            scheduler.failed(account);
            Failures failures = giveAllBack();
            try {
                scheduler.left();
            } catch (RuntimeException | Error other) {
                failures.add(other);
            }
            failures.suppressIn(e);
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
     * Moves to the next block, and waits for it. Without an executor, this serves the scheduler meanwhile. If such a
     * step throws an exception, this call throws it, and may be made again.
     *
     * @return false after the last block
     * @throws FaroException as {@link #poll}; {@code io} with an {@link InterruptedIOException} as cause if the thread
     *     is interrupted, after which the call may be made again
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
                    throw account.file.file.io("bytes", cause);
                }
                if (scheduler.hasExecutor()) {
                    LockSupport.park(this);
                } else if (!scheduler.serve()) {
                    // Another thread serves the file now, and may leave the next step to this one.
                    LockSupport.parkNanos(this, PATIENCE_NANOSECONDS);
                }
            }
        } finally {
            waiting = null;
        }
    }

    /**
     * Sets a listener. It is called after {@link #poll} returned {@code NOT_YET}, when a new call may return something
     * else: bytes arrived, or the end, or a fault. It is called once for each such result, and sometimes once more. A
     * thread that serves the scheduler calls it, so it must not block; or this method calls it, if there is something
     * already.
     */
    public void onReady(Runnable called) {
        Objects.requireNonNull(called, "called");
        listener = called;
        newsWanted.set(true);
        if (scheduler.hasNews(account)) {
            notifyListener();
        }
    }

    /** Called when bytes arrive, or the end; without the lock. */
    private void notifyListener() {
        try {
            if (newsWanted.get() && listener != null && newsWanted.compareAndSet(true, false)) {
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

    /** The current block. Use the methods that describe the block, not {@code next}. */
    public BlockCursor block() {
        return feed.blocks();
    }

    /**
     * Removes the consumer's requests, and gives back what was read for it. A read that is in progress for it is
     * dropped. Another thread that waits in {@link #next} gets {@code io}.
     */
    @Override
    public void close() {
        if (!scheduler.leave(account)) {
            return;
        }
        try {
            boolean closedHere = false;
            // Repeated if another thread begins or ends a poll in between.
            while (!closedHere && !use.compareAndSet(Use.POLLED, Use.CLOSED_WHILE_POLLED)) {
                closedHere = use.compareAndSet(Use.FREE, Use.CLOSED);
            }
            if (closedHere) {
                giveAllBack().rethrow();
            }
        } finally {
            scheduler.left();
            unpark();
        }
    }
}
