package dev.faro.scheduler;

import dev.faro.FaroException;
import dev.faro.reader.Dataset;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Reads for many consumers of one or of many files, by few long reads in the order of each file (docs/scheduler.md). Safe
 * to share between threads.
 *
 * <p>It has no threads: steps run in an {@link Executor} that it is given, or in whatever thread calls {@link #serve}.
 */
public final class Scheduler implements Closeable {
    /** Steps that one task makes before it lets others have the executor's thread. */
    private static final int STEPS = 16;

    private final SchedulerOptions options;
    private final Buffers buffers;
    private final Executor executor;
    private final Reading reading;
    /** Also the lock of whatever a consumer or a file keeps of this. */
    private final Ledger ledger;
    private final Map<Dataset, FileSweep> files = new IdentityHashMap<>();
    private final Set<Consumer> consumers = Collections.newSetFromMap(new IdentityHashMap<>());
    private long wakes;
    private boolean closed;

    /** A scheduler that is driven by calls of {@link #serve}, with buffers of its own. */
    public Scheduler(SchedulerOptions options) {
        this(options, null, new PooledBuffers(options.budgetBytes()));
    }

    /** A scheduler that is driven by tasks of an executor, with buffers of its own. */
    public Scheduler(SchedulerOptions options, Executor executor) {
        this(options, executor, new PooledBuffers(options.budgetBytes()));
    }

    /**
     * A scheduler with somebody else's threads and memory.
     *
     * @param executor runs a task now and then that makes some steps, never in the thread that hands it over; or null
     */
    public Scheduler(SchedulerOptions options, Executor executor, Buffers buffers) {
        this.options = options;
        this.executor = executor;
        this.buffers = buffers;
        this.reading = new Reading(options, buffers);
        this.ledger = new Ledger(options);
    }

    /**
     * What was read so far.
     *
     * @param reads stretches that were read
     * @param bytes of them
     * @param gapBytes of them that nobody had asked for
     * @param requests that were served
     * @param seekBytes the sum of the distances between the end of one read of a file and the beginning of its next
     * @param mostHeld the most bytes that were held at once, read and not taken
     */
    public record Statistics(
            long reads, long bytes, long gapBytes, long requests, long seekBytes, long mostHeld) {}

    /**
     * Opens a reading of one partition. Consumers of the same {@link Dataset} are served together: it is the file's one
     * handle, and stays the caller's to close, after them.
     *
     * @throws FaroException {@code invalid-argument} if the file does not have the partition
     */
    public Consumer open(Dataset dataset, int partition) throws FaroException {
        if (partition == Integer.MAX_VALUE) {
            throw FaroException.invalidArgument("a partition of the file", partition);
        }
        return open(dataset, partition, partition + 1);
    }

    /**
     * Opens a reading of the partitions from {@code from} to before {@code to}, region by region.
     *
     * @throws FaroException {@code invalid-argument} if the file does not have all of them, or the scheduler is closed
     */
    public Consumer open(Dataset dataset, int from, int to) throws FaroException {
        Consumer consumer;
        boolean run;
        synchronized (ledger) {
            if (closed) {
                throw FaroException.invalidArgument("a scheduler that is open", "a closed one");
            }
            FileSweep file = files.computeIfAbsent(dataset, which -> new FileSweep(which, options));
            consumer = new Consumer(this, file, from, to);
            file.open++;
            ledger.counted++;
            consumers.add(consumer);
            run = ledger.feedLater(consumer);
        }
        dispatch(run);
        return consumer;
    }

    boolean hasExecutor() {
        return executor != null;
    }

    private void dispatch(boolean run) {
        if (!run || executor == null) {
            return;
        }
        try {
            executor.execute(this::runSteps);
        } catch (RejectedExecutionException e) {
            endAll(FaroException.io(null, null, "an executor that runs tasks", e));
        }
    }

    private void runSteps() {
        try {
            int steps = 0;
            while (serveFile()) {
                if (++steps == STEPS) {
                    dispatch(true);
                    return;
                }
            }
        } catch (FaroException e) {
            // This thread was interrupted; what it was to read is left to another task.
            dispatch(true);
        } catch (RuntimeException e) {
            endAll(FaroException.io(null, null, "a pool of buffers and listeners that do not fail", e));
            throw e;
        }
    }

    /**
     * Makes one step for one file: plans, reads once, hands out.
     *
     * @return false if there is nothing to do now, or other threads do it
     * @throws FaroException {@code io} with an {@link java.io.InterruptedIOException} as cause, if this thread was
     *     interrupted: nobody's reading is concerned, the step is left to the next call
     */
    public boolean serve() throws FaroException {
        boolean served = serveFile();
        // Who calls this need not come again: the executor goes on.
        dispatch(served);
        return served;
    }

    private boolean serveFile() throws FaroException {
        FileSweep file;
        synchronized (ledger) {
            file = ledger.ready.poll();
            if (file == null) {
                return false;
            }
            file.again = false;
        }
        boolean more = true;
        boolean run;
        try {
            more = step(file);
        } finally {
            synchronized (ledger) {
                run = more || file.again;
                file.queued = run;
                if (run) {
                    ledger.ready.add(file);
                } else if (file.open == 0) {
                    files.remove(file.dataset, file);
                }
            }
        }
        return true;
    }

    private boolean step(FileSweep file) throws FaroException {
        List<Consumer> planned = new ArrayList<>();
        long wakesBefore;
        synchronized (ledger) {
            planned.addAll(file.hungry);
            file.hungry.clear();
            wakesBefore = wakes;
        }
        plan(file, planned);
        Sweep.Read<Consumer> read = ledger.choose(file);
        if (read == null) {
            return false;
        }
        Reading.Result result = null;
        try {
            result = reading.read(file.file, read);
        } finally {
            if (result == null) {
                ledger.putBack(file, read.requests());
            }
        }
        return handOut(file, read, result, wakesBefore);
    }

    /** Plans the next requests of consumers that have room; may read region messages. */
    private void plan(FileSweep file, List<Consumer> hungry) throws FaroException {
        List<Consumer> ended = new ArrayList<>();
        try {
            plan(file, hungry, ended);
        } finally {
            tell(ended);
        }
    }

    private void plan(FileSweep file, List<Consumer> hungry, List<Consumer> ended) throws FaroException {
        for (int i = 0; i < hungry.size(); i++) {
            Consumer consumer = hungry.get(i);
            boolean wanted = false;
            try {
                wanted = consumer.feed().want(ledger.mostOf(consumer));
            } catch (FaroException e) {
                if (Consumer.isInterrupt(e)) {
                    synchronized (ledger) {
                        file.hungry.addAll(hungry.subList(i, hungry.size()));
                    }
                    throw e;
                }
                consumer.feed().endWith(e);
            }
            synchronized (ledger) {
                if (consumer.closed) {
                    continue;
                }
                consumer.outstanding = wanted;
                consumer.planEnded = !wanted;
                if (wanted) {
                    consumer.request =
                            file.sweep.add(consumer, consumer.feed().wantedFrom(), consumer.feed().wantedTo());
                }
            }
            if (!wanted) {
                ended.add(consumer);
            }
        }
    }

    /** Tells all of them that something came, also where a listener of one fails: that comes out when all are told. */
    private static void tell(Iterable<Consumer> consumers) {
        RuntimeException failure = null;
        for (Consumer consumer : consumers) {
            try {
                consumer.notifyListener();
            } catch (RuntimeException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private boolean handOut(
            FileSweep file, Sweep.Read<Consumer> read, Reading.Result result, long wakesBefore) {
        List<Sweep.Request<Consumer>> requests = read.requests();
        int served = result.served();
        boolean more = true;
        List<ByteBuffer> dropped = new ArrayList<>();
        synchronized (ledger) {
            for (int i = 0; i < served; i++) {
                handOut(requests.get(i), result.pieces().get(i), result.fault(i), dropped);
            }
            if (served > 0) {
                reading.count(file, read, result);
            }
            if (served < requests.size()) {
                ledger.putBack(file, requests.subList(served, requests.size()));
                if (wakes == wakesBefore) {
                    ledger.starve(file);
                    more = served > 0;
                }
            }
        }
        dropped.forEach(buffers::giveBack);
        boolean run = dropped.isEmpty() ? false : ledger.wakeStarved();
        dispatch(run);
        tell(requests.subList(0, served).stream().map(Sweep.Request::owner).toList());
        return more;
    }

    private void handOut(
            Sweep.Request<Consumer> request, List<ByteBuffer> pieces, FaroException fault, List<ByteBuffer> dropped) {
        Consumer consumer = request.owner();
        if (consumer.closed || fault != null) {
            ledger.held -= request.bytes();
            dropped.addAll(pieces);
            if (!consumer.closed) {
                consumer.planEnded = true;
                consumer.outstanding = false;
                dropRequest(consumer);
                consumer.feed().endWith(fault);
            }
            return;
        }
        long at = request.start();
        consumer.held += request.bytes();
        for (ByteBuffer piece : pieces) {
            consumer.feed().bring(piece, at);
            at += piece.remaining();
        }
        consumer.outstanding = consumer.request != null;
        ledger.feedLater(consumer);
    }

    /** Takes back what a consumer still asks for. */
    private static void dropRequest(Consumer consumer) {
        if (consumer.request != null) {
            consumer.file.sweep.remove(consumer.request);
            consumer.request = null;
        }
    }

    /** A consumer took what lies in a buffer. */
    void taken(Consumer consumer, ByteBuffer buffer) {
        int bytes = buffer.remaining();
        buffers.giveBack(buffer);
        boolean run;
        synchronized (ledger) {
            ledger.held -= bytes;
            consumer.held -= bytes;
            run = ledger.feedLater(consumer);
        }
        dispatch(run | ledger.wakeStarved());
    }

    /** Says that {@link Buffers#take} may have something again, after it had nothing. */
    public void wake() {
        boolean run;
        synchronized (ledger) {
            wakes++;
            run = ledger.wakeStarved();
        }
        dispatch(run);
    }

    /** A reading came to its end: its share is the others'. */
    void ended(Consumer consumer) {
        synchronized (ledger) {
            if (consumer.counted) {
                consumer.counted = false;
                ledger.counted--;
            }
        }
    }

    /** Whether poll may say something else than that there is nothing yet. */
    boolean hasNews(Consumer consumer) {
        synchronized (ledger) {
            return consumer.held > 0 || consumer.planEnded;
        }
    }

    void close(Consumer consumer) {
        synchronized (ledger) {
            if (consumer.closed) {
                return;
            }
            consumer.closed = true;
            dropRequest(consumer);
            consumers.remove(consumer);
            if (--consumer.file.open == 0 && !consumer.file.queued) {
                files.remove(consumer.file.dataset, consumer.file);
            }
        }
        ended(consumer);
        // Buffers are given back through taken().
        consumer.feed().close();
        dispatch(ledger.wakeStarved());
    }

    /** What was read so far. */
    public Statistics statistics() {
        synchronized (ledger) {
            return reading.statistics(ledger.mostHeld);
        }
    }

    private void endAll(FaroException fault) {
        List<Consumer> all;
        synchronized (ledger) {
            all = new ArrayList<>(consumers);
            for (Consumer consumer : all) {
                consumer.planEnded = true;
                consumer.feed().endWith(fault);
            }
        }
        tell(all);
    }

    /** Ends all readings with {@code io}; buffers come back as their consumers are closed. */
    @Override
    public void close() {
        synchronized (ledger) {
            closed = true;
        }
        endAll(FaroException.io(null, null, "a scheduler that is open", new IOException("the scheduler was closed")));
    }
}
