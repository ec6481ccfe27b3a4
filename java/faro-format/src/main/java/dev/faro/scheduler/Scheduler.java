package dev.faro.scheduler;

import dev.faro.Buffers;
import dev.faro.FaroException;
import dev.faro.follow.Follower;
import dev.faro.internal.bytes.CountedBudget;
import dev.faro.reader.Feed;
import dev.faro.reader.PartitionReader;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;

/**
 * Serves many consumers of one or more files with few, long reads, in the order of each file (docs/scheduler.md). Safe
 * to share between threads.
 *
 * <pre>{@code
 * try (Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT, executor)) {
 *     Consumer first = scheduler.partition(reader, 0);
 *     Consumer second = scheduler.partition(reader, 1);
 *     ...
 * }
 * }</pre>
 *
 * <p>A scheduler has no threads. Its steps run in an {@link Executor} of the caller, or in the threads that call
 * {@link #serve}. Whatever fails, each reading ends with its data or with a {@link FaroException} that says why (rule
 * 7).
 */
public final class Scheduler implements Closeable {
    /** The number of steps after which a task leaves the executor's thread to other tasks. */
    private static final int STEPS = 16;

    private final SchedulerOptions options;
    private final Buffers buffers;
    private final Executor executor;
    private final Runnable task = this::runSteps;
    private final FileReads reads;
    /** Its monitor also guards the state of consumers and files. */
    private final Ledger ledger;
    private final Settlement settlement;
    private final Map<PartitionReader, FileSweep<Account>> files = new IdentityHashMap<>();
    private final Set<Account> accounts = new LinkedHashSet<>();
    private final CountedBudget budget;
    private final LongAdder waits = new LongAdder();
    private final ConsumerHost host = new Host();
    private volatile boolean closed;
    /** The reason why nothing more is read: this was closed, or a step failed while it changed the ledger. */
    private volatile Throwable stopReason;
    /** Whether a step failed while it changed the ledger. */
    private volatile boolean broken;

    /**
     * Makes a scheduler that works in calls of {@link #serve}, with its own buffers.
     *
     * @throws FaroException {@code invalid-argument} if the options are out of range
     */
    public Scheduler(SchedulerOptions options) throws FaroException {
        this(Objects.requireNonNull(options, "options"), null, null, CountedBudget.of(options.memoryBudget()));
    }

    /**
     * Makes a scheduler that works in tasks of an executor, with its own buffers.
     *
     * @param executor as for {@link #Scheduler(SchedulerOptions, Executor, Buffers)}
     * @throws FaroException {@code invalid-argument} if the options are out of range
     */
    public Scheduler(SchedulerOptions options, Executor executor) throws FaroException {
        this(Objects.requireNonNull(options, "options"), executor, null, CountedBudget.of(options.memoryBudget()));
    }

    /**
     * Makes a scheduler with threads and memory of the caller.
     *
     * @param executor runs tasks of some steps each, never in the thread that submits them; null to use {@link #serve}.
     *     It must run each task or reject it. A rejected task ends the readings that are open. Before an executor drops
     *     its tasks, as {@code shutdownNow} does, close the scheduler. A task throws the exceptions of its steps. The
     *     executor's threads must not wait in {@link Consumer#next}
     * @param buffers supplies the memory
     * @throws FaroException {@code invalid-argument} if the options are out of range
     */
    public Scheduler(SchedulerOptions options, Executor executor, Buffers buffers) throws FaroException {
        this(Objects.requireNonNull(options, "options"), executor, Objects.requireNonNull(buffers, "buffers"),
                CountedBudget.of(options.memoryBudget()));
    }

    /**
     * @param supplied null for buffers of this scheduler
     * @param budget that of the options, with a counter; may be null
     */
    private Scheduler(SchedulerOptions options, Executor executor, Buffers supplied, CountedBudget budget)
            throws FaroException {
        this.options = options.checked();
        this.budget = budget;
        this.executor = executor;
        Grants grants = new Grants(options, supplied == null ? budget : null);
        PooledBuffers pool = supplied == null ? new PooledBuffers(options.budgetBytes(), grants) : null;
        this.buffers = supplied == null ? pool : supplied;
        this.reads = new FileReads(options, buffers, budget);
        this.ledger = new Ledger(options, grants);
        this.settlement = new Settlement(ledger, pool, reads);
    }

    /**
     * Opens a reading of one partition. Consumers of the same {@link PartitionReader} object are served together. The
     * caller closes the reader, after the consumers.
     *
     * @throws FaroException {@code invalid-argument} if the file does not have the partition
     */
    public Consumer partition(PartitionReader reader, int partition) throws FaroException {
        if (partition == Integer.MAX_VALUE) {
            throw FaroException.invalidArgument("a partition of the file", partition);
        }
        return range(reader, partition, partition + 1);
    }

    /**
     * Opens a reading of the partitions in [from, to), region by region.
     *
     * @throws FaroException {@code invalid-argument} if the file does not have all of the partitions, the reader was
     *     made by {@link dev.faro.reader.Opening}, or the scheduler is closed; {@code io} if the scheduler has failed,
     *     or the engine refused the memory for a consumer
     */
    public Consumer range(PartitionReader reader, int from, int to) throws FaroException {
        Objects.requireNonNull(reader, "reader");
        return open(reader, returns -> new Feed(reader, from, to, returns));
    }

    /**
     * Opens a reading of a partition of an output that is still written: its blocks from the first region on, as its
     * regions come (FOL-7). It goes on with each {@link #follow} that finds regions, and ends when one finds that the
     * output is finished.
     *
     * <pre>{@code
     * try (Consumer consumer = scheduler.watch(follower, 7)) {
     *     consumer.onReady(...);
     *     while (!scheduler.follow(follower)) {
     *         // Wait a moment here: the writer is still at work.
     *     }
     * }
     * }</pre>
     *
     * @throws FaroException as {@link #partition}
     */
    public Consumer watch(Follower follower, int partition) throws FaroException {
        Objects.requireNonNull(follower, "follower");
        return open(follower, returns -> Feed.watch(follower, partition, returns));
    }

    /**
     * Polls a follower, and gives what it found to all readings that {@linkplain #watch watch} it. If the output is
     * finished, they end after it. If the poll fails, they end too, with its error, after the regions before it; an
     * interrupt ends no reading. Without an executor, call {@link #serve} afterwards.
     *
     * @return whether the file is finished; it does not change any more then
     * @throws FaroException as {@link Follower#poll}
     */
    public boolean follow(Follower follower) throws FaroException {
        Objects.requireNonNull(follower, "follower");
        FaroException fault = null;
        try {
            return follower.poll();
        } catch (FaroException e) {
            fault = Failures.isInterrupt(e) ? null : e;
            throw e;
        } catch (Throwable e) {
            fault = Failures.ofReading(follower.output().files().index(), "a poll of its regions", e);
            throw e;
        } finally {
            grown(follower, fault);
        }
    }

    /**
     * Ends the readings that {@linkplain #watch watch} a follower, because the writer is dead: after the regions that
     * the follower has seen they get {@code unfinished}. A follower cannot know that (FOL-6).
     */
    public void giveUp(Follower follower) {
        grown(follower, follower.givenUp());
    }

    /**
     * Arranges that the readings of a growing output are planned again.
     *
     * @param end why no more regions come; null if there may be more
     */
    private void grown(Follower follower, FaroException end) {
        boolean run = false;
        synchronized (ledger) {
            FileSweep<Account> file = files.get(follower);
            if (file == null) {
                return;
            }
            file.growths++;
            for (Account account : accounts) {
                if (account.file == file) {
                    if (end != null) {
                        account.feed.endOfRegions(end);
                    }
                    run |= ledger.feedLater(account);
                }
            }
        }
        dispatch(run);
    }

    private Consumer open(PartitionReader reader, Consumer.Reading reading) throws FaroException {
        if (reader.output().files().data().brought() != null) {
            throw FaroException.invalidArgument("a reader that reads its files", "one that was made by Opening");
        }
        boolean granted = ledger.grants.askLeast();
        // Memory that no read uses makes room.
        if (!granted && reads.release() > 0) {
            granted = ledger.grants.askLeast();
        }
        Consumer consumer = null;
        boolean run;
        try {
            synchronized (ledger) {
                ledger.grants.checkLeast(granted, reader.output().files().data());
                consumer = open(reader, reading, granted);
                run = ledger.feedLater(consumer.account());
            }
        } finally {
            if (consumer == null && granted) {
                ledger.grants.giveLeastBack();
            }
        }
        dispatch(run);
        return consumer;
    }

    /** Opens a consumer. The caller holds the lock. */
    private Consumer open(PartitionReader reader, Consumer.Reading reading, boolean granted) throws FaroException {
        if (closed) {
            throw FaroException.invalidArgument("a scheduler that is open", "a closed one");
        }
        if (stopReason != null) {
            throw endOfAll();
        }
        FileSweep<Account> known = files.get(reader);
        FileSweep<Account> file = known == null ? new FileSweep<>(reader, options) : known;
        Consumer consumer = new Consumer(host, file, reading);
        files.put(reader, file);
        accounts.add(consumer.account());
        file.open++;
        ledger.counted++;
        ledger.grants.opened(granted);
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

    /** Ends all readings that are open. Later readings may be accepted by the executor. */
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
            ledger.forgetReady().forEach(this::forgetUnused);
        }
        FileStep.tell(all, failures);
        failures.suppressIn(refusal);
    }

    private void runSteps() {
        boolean more = true;
        try {
            for (int steps = 0; more && steps < STEPS; steps++) {
                more = serveFile();
            }
        } catch (FaroException e) {
            // This thread was interrupted; another task makes the read.
        } finally {
            dispatch(more);
        }
    }

    /**
     * Makes one step for one file: plans, reads once, and delivers the bytes. Without an executor, callers call this
     * until it returns false: after each {@link Consumer#poll} without a block, after closing a consumer, and after
     * {@link #wake}. A step may work for other consumers than the caller's.
     *
     * <p>If a listener or a pool throws an exception, this call throws it at the end of the step.
     *
     * @return false if there is nothing to do now, or other threads do it
     * @throws FaroException {@code io} with an {@link java.io.InterruptedIOException} as cause, if this thread was
     *     interrupted; no reading is affected, and the next call makes the step
     */
    public boolean serve() throws FaroException {
        boolean more = true;
        try {
            more = serveFile();
            return more;
        } finally {
            // The caller may not come again, so the executor continues.
            dispatch(more);
        }
    }

    private boolean serveFile() throws FaroException {
        FileSweep<Account> file;
        synchronized (ledger) {
            file = stopReason == null ? ledger.ready.poll() : null;
            if (file == null) {
                return false;
            }
            file.hasNewWork = false;
        }
        FileStep step;
        try {
            step = serve(file);
        } catch (FaroException interrupt) {
            settle(false);
            throw interrupt;
        } catch (Throwable e) {
            // The ledger may be wrong now. The first line needs neither memory nor stack.
            stopReason = e;
            broken = true;
            tellAll(new Failures());
            settle(false);
            throw e;
        }
        dispatch((step.madeRoom() || step.grew()) && ledger.wakeStarved());
        try {
            settle(step.madeRoom());
        } catch (Throwable e) {
            step.failures().add(e);
        }
        step.failures().rethrow();
        return true;
    }

    /**
     * Gives an engine back what is not in use, if no consumer is left.
     *
     * @param always also if there are consumers
     */
    private void settle(boolean always) {
        if (budget == null) {
            return;
        }
        boolean idle;
        synchronized (ledger) {
            idle = accounts.isEmpty();
        }
        if (idle || always) {
            settlement.settle(idle, idle && broken);
        }
    }

    private FileStep serve(FileSweep<Account> file) throws FaroException {
        FileStep step = new FileStep(ledger, reads, buffers, file);
        boolean more = true;
        try {
            more = step.run();
        } catch (FaroException interrupt) {
            step.failures().suppressIn(interrupt);
            throw interrupt;
        } finally {
            synchronized (ledger) {
                file.queued = more || file.hasNewWork;
                if (file.queued) {
                    ledger.ready.add(file);
                }
                forgetUnused(file);
            }
        }
        return step;
    }

    /** Forgets a file without consumers, unless a step for it is still to come. The caller holds the lock. */
    private void forgetUnused(FileSweep<Account> file) {
        if (file.open == 0 && !file.queued) {
            files.remove(file.reader, file);
        }
    }

    /** The methods that consumers call. */
    private final class Host implements ConsumerHost {
        @Override
        public void waits() {
            waits.increment();
        }

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
                boolean last;
                synchronized (ledger) {
                    ledger.free(account, bytes);
                    account.held -= ledger.grants.size(bytes);
                    run = ledger.feedLater(account);
                    last = !account.counted && account.held == 0;
                }
                dispatch(run | ledger.wakeStarved());
                if (last) {
                    settle(true);
                }
            }
        }

        @Override
        public boolean ended(Account account) {
            synchronized (ledger) {
                if (!account.counted) {
                    return false;
                }
                account.counted = false;
                ledger.counted--;
                ledger.grants.giveUp(account);
                return true;
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
                return account.held > 0 || account.planEnded || stopReason != null;
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
                account.file.open--;
                forgetUnused(account.file);
            }
            ended(account);
            return true;
        }

        @Override
        public void left() {
            dispatch(ledger.wakeStarved());
            settle(true);
        }
    }

    /** Tells the scheduler that {@link Buffers#take} may return a buffer again, after it returned null. */
    public void wake() {
        boolean run;
        synchronized (ledger) {
            ledger.wakes++;
            run = ledger.wakeStarved();
        }
        dispatch(run);
    }

    /** The fault that ends waiting readings, or null while the scheduler works. */
    private FaroException endOfAll() {
        Throwable cause = stopReason;
        if (cause == null) {
            return null;
        }
        String expected = closed ? "a scheduler that is open" : "a scheduler that has not failed";
        return FaroException.io(null, null, expected, cause);
    }

    /** The counts so far. May be asked for at any time, even after {@link #close}. */
    public SchedulerFigures figures() {
        synchronized (ledger) {
            return reads.figures(
                    ledger.held, ledger.mostHeld, waits.sum(), CountedBudget.refusals(budget));
        }
    }

    private void tellAll(Failures failures) {
        List<Account> all;
        synchronized (ledger) {
            all = new ArrayList<>(accounts);
        }
        FileStep.tell(all, failures);
    }

    /**
     * Ends all readings that wait for bytes, with {@code io}. Buffers are given back when their consumers are closed.
     * If listeners throw exceptions, this call throws them after all listeners were called.
     */
    @Override
    public void close() {
        synchronized (ledger) {
            closed = true;
            if (stopReason == null) {
                stopReason = new IOException("the scheduler was closed");
            }
        }
        Failures failures = new Failures();
        tellAll(failures);
        failures.rethrow();
    }
}
