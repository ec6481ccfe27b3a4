package dev.faro.scheduler;

import dev.faro.FaroException;
import dev.faro.reader.PartitionReader;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;

/**
 * Reads for many consumers of one or of many files, by few long reads in the order of each file (docs/scheduler.md). Safe
 * to share between threads.
 *
 * <p>It has no threads: steps run in an {@link Executor} that it is given, or in whatever thread calls {@link #serve}.
 * Whatever fails, each reading ends with its data or with a {@link FaroException} that says why (rule 7).
 */
public final class Scheduler implements Closeable {
    /** Steps that one task makes before it lets others have the executor's thread. */
    private static final int STEPS = 16;

    private final SchedulerOptions options;
    private final Buffers buffers;
    private final Executor executor;
    private final Runnable task = this::runSteps;
    private final Reading reading;
    /** Also the lock of whatever a consumer or a file keeps of this. */
    private final Ledger ledger;
    private final Map<PartitionReader, FileSweep<Account>> files = new IdentityHashMap<>();
    private final Set<Account> accounts = new LinkedHashSet<>();
    private final ConsumerHost host = new Host();
    private volatile boolean closed;
    /** Why nothing more is read: this was closed, or a step failed in the middle of its books. */
    private volatile Throwable over;

    /**
     * A scheduler that is driven by calls of {@link #serve}, with buffers of its own.
     *
     * @throws FaroException {@code invalid-argument} if the options are out of range
     */
    public Scheduler(SchedulerOptions options) throws FaroException {
        this(options, null, new PooledBuffers(options.budgetBytes()));
    }

    /**
     * A scheduler that is driven by tasks of an executor, with buffers of its own.
     *
     * @throws FaroException {@code invalid-argument} if the options are out of range
     */
    public Scheduler(SchedulerOptions options, Executor executor) throws FaroException {
        this(options, executor, new PooledBuffers(options.budgetBytes()));
    }

    /**
     * A scheduler with somebody else's threads and memory.
     *
     * @param executor runs a task now and then that makes some steps, never in the thread that hands it over; or null.
     *     It has to run each task or to refuse it. One that is refused ends the readings that are open. Where an
     *     executor is to drop its tasks, as {@code shutdownNow} does, close the scheduler first. What a step throws comes
     *     out of the task. Its threads must not be used to wait in {@link Consumer#next}
     * @throws FaroException {@code invalid-argument} if the options are out of range
     */
    public Scheduler(SchedulerOptions options, Executor executor, Buffers buffers) throws FaroException {
        this.options = options.checked();
        this.executor = executor;
        this.buffers = buffers;
        this.reading = new Reading(options, buffers);
        this.ledger = new Ledger(options);
    }

    /**
     * Opens a reading of one partition. Consumers of the same {@link PartitionReader} are served together: it is the file's one
     * handle, and stays the caller's to close, after them.
     *
     * @throws FaroException {@code invalid-argument} if the file does not have the partition
     */
    public Consumer open(PartitionReader reader, int partition) throws FaroException {
        if (partition == Integer.MAX_VALUE) {
            throw FaroException.invalidArgument("a partition of the file", partition);
        }
        return open(reader, partition, partition + 1);
    }

    /**
     * Opens a reading of the partitions from {@code from} to before {@code to}, region by region.
     *
     * @throws FaroException {@code invalid-argument} if the file does not have all of them, or the scheduler is closed;
     *     {@code io} if it broke down
     */
    public Consumer open(PartitionReader reader, int from, int to) throws FaroException {
        Consumer consumer;
        boolean run;
        synchronized (ledger) {
            if (closed) {
                throw FaroException.invalidArgument("a scheduler that is open", "a closed one");
            }
            if (over != null) {
                throw endOfAll();
            }
            FileSweep<Account> known = files.get(reader);
            FileSweep<Account> file = known == null ? new FileSweep<>(reader, options) : known;
            consumer = new Consumer(host, file, from, to);
            files.put(reader, file);
            accounts.add(consumer.account());
            file.open++;
            ledger.counted++;
            run = ledger.feedLater(consumer.account());
        }
        dispatch(run);
        return consumer;
    }

    private void dispatch(boolean run) {
        if (!run || executor == null) {
            return;
        }
        try {
            executor.execute(task);
        } catch (Throwable refusal) {
            refused(refusal);
        }
    }

    /** Ends all readings that are open; those to come may find the executor in a better mood. */
    private void refused(Throwable refusal) {
        Failures failures = new Failures();
        FaroException fault = FaroException.io(null, null, "an executor that runs tasks", refusal);
        List<Account> all;
        synchronized (ledger) {
            all = new ArrayList<>(accounts);
            for (Account account : all) {
                if (!account.planEnded) {
                    ledger.end(account, fault);
                }
            }
            ledger.forgetReady();
        }
        Step.tell(all, failures);
        failures.suppressIn(refusal);
    }

    private void runSteps() {
        boolean more = true;
        try {
            for (int steps = 0; more && steps < STEPS; steps++) {
                more = serveFile();
            }
        } catch (FaroException e) {
            // This thread was interrupted; what it was to read is left to another task.
        } finally {
            dispatch(more);
        }
    }

    /**
     * Makes one step for one file: plans, reads once, hands out. Without an executor, whoever polls calls this until it
     * returns false, after each {@link Consumer#poll} that brings no block, after closing a consumer and after
     * {@link #wake}; one step may be for others.
     *
     * <p>What a listener or a pool throws comes out of this call, when the step is done.
     *
     * @return false if there is nothing to do now, or other threads do it
     * @throws FaroException {@code io} with an {@link java.io.InterruptedIOException} as cause, if this thread was
     *     interrupted: nobody's reading is concerned, the step is left to the next call
     */
    public boolean serve() throws FaroException {
        boolean more = true;
        try {
            more = serveFile();
            return more;
        } finally {
            // The caller need not come again: the executor goes on.
            dispatch(more);
        }
    }

    private boolean serveFile() throws FaroException {
        FileSweep<Account> file;
        synchronized (ledger) {
            file = over == null ? ledger.ready.poll() : null;
            if (file == null) {
                return false;
            }
            file.again = false;
        }
        Step step;
        try {
            step = serve(file);
        } catch (FaroException interrupt) {
            throw interrupt;
        } catch (Throwable e) {
            // Nobody knows what is in the books now. The first line needs neither memory nor stack.
            over = e;
            tellAll(new Failures());
            throw e;
        }
        dispatch(step.madeRoom() && ledger.wakeStarved());
        step.failures().rethrow();
        return true;
    }

    private Step serve(FileSweep<Account> file) throws FaroException {
        Step step = new Step(ledger, reading, buffers, file);
        boolean more = true;
        try {
            more = step.run();
        } catch (FaroException interrupt) {
            step.failures().suppressIn(interrupt);
            throw interrupt;
        } finally {
            synchronized (ledger) {
                file.queued = more || file.again;
                if (file.queued) {
                    ledger.ready.add(file);
                } else if (file.open == 0) {
                    files.remove(file.reader, file);
                }
            }
        }
        return step;
    }

    /** What consumers call. */
    private final class Host implements ConsumerHost {
        @Override
        public boolean hasExecutor() {
            return executor != null;
        }

        @Override
        public boolean serve() throws FaroException {
            return Scheduler.this.serve();
        }

        @Override
        public void taken(Account account, ByteBuffer buffer) {
            int bytes = buffer.remaining();
            try {
                buffers.giveBack(buffer);
            } finally {
                boolean run;
                synchronized (ledger) {
                    ledger.held -= bytes;
                    account.held -= bytes;
                    run = ledger.feedLater(account);
                }
                dispatch(run | ledger.wakeStarved());
            }
        }

        @Override
        public void ended(Account account) {
            synchronized (ledger) {
                if (account.counted) {
                    account.counted = false;
                    ledger.counted--;
                }
            }
        }

        @Override
        public void failed(Account account) {
            synchronized (ledger) {
                ledger.end(account, null);
            }
            ended(account);
        }

        @Override
        public boolean hasNews(Account account) {
            synchronized (ledger) {
                return account.held > 0 || account.planEnded || over != null;
            }
        }

        @Override
        public FaroException endOfAll() {
            return Scheduler.this.endOfAll();
        }

        @Override
        public boolean leave(Account account) {
            synchronized (ledger) {
                if (account.closed) {
                    return false;
                }
                account.closed = true;
                ledger.dropRequest(account);
                accounts.remove(account);
                if (--account.file.open == 0 && !account.file.queued) {
                    files.remove(account.file.reader, account.file);
                }
            }
            ended(account);
            return true;
        }

        @Override
        public void left() {
            dispatch(ledger.wakeStarved());
        }
    }

    /** Says that {@link Buffers#take} may have something again, after it had nothing. */
    public void wake() {
        boolean run;
        synchronized (ledger) {
            ledger.wakes++;
            run = ledger.wakeStarved();
        }
        dispatch(run);
    }

    /** What readings end with that still wait, or null while this goes on. */
    private FaroException endOfAll() {
        Throwable cause = over;
        if (cause == null) {
            return null;
        }
        return FaroException.io(null, null, closed ? "a scheduler that is open" : "a scheduler that goes on", cause);
    }

    /** What was read so far. */
    public SchedulerStatistics statistics() {
        synchronized (ledger) {
            return reading.statistics(ledger.mostHeld);
        }
    }

    private void tellAll(Failures failures) {
        List<Account> all;
        synchronized (ledger) {
            all = new ArrayList<>(accounts);
        }
        Step.tell(all, failures);
    }

    /**
     * Ends with {@code io} all readings that wait for bytes; buffers come back as their consumers are closed. What
     * listeners throw comes out of this call, when all are called.
     */
    @Override
    public void close() {
        synchronized (ledger) {
            closed = true;
            if (over == null) {
                over = new IOException("the scheduler was closed");
            }
        }
        Failures failures = new Failures();
        tellAll(failures);
        failures.rethrow();
    }
}
