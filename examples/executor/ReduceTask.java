import dev.faro.FaroException;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Feed;
import dev.faro.reader.Reader;
import dev.faro.scheduler.Consumer;
import dev.faro.scheduler.Scheduler;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Reads one partition of all outputs. It has no thread: it runs in the engine's executor while there is something to
 * do, and a consumer that has news makes it run again.
 */
final class ReduceTask {
    /** Is told how far a task is. */
    interface Progress {
        /** A task has read a block. Called in its thread. */
        void blockRead(ReduceTask task);
    }

    /** An output, and the reading of it. */
    private record Input(MapOutput output, Consumer consumer) {}

    private final int partition;
    private final Map<MapOutput, Reader> readers;
    private final Scheduler scheduler;
    private final Executor executor;
    private final Progress progress;
    private final CompletableFuture<Rows.Totals> result = new CompletableFuture<>();
    /** Reasons to run that came since the last run began. The first submits the task: it never runs twice at once. */
    private final AtomicInteger signals = new AtomicInteger();
    private volatile boolean cancelled;
    /** Null before the first run. */
    private List<Input> inputs;
    private Rows.Totals totals = new Rows.Totals(0, 0);

    /**
     * Makes a task; {@link #start} starts it.
     *
     * @param readers of all outputs; other tasks use them too, so that one read serves several tasks
     */
    ReduceTask(int partition, Map<MapOutput, Reader> readers, Scheduler scheduler, Executor executor,
            Progress progress) {
        this.partition = partition;
        this.readers = readers;
        this.scheduler = scheduler;
        this.executor = executor;
        this.progress = progress;
    }

    int partition() {
        return partition;
    }

    /**
     * The totals, or what ended the task: an {@link InputFault}, or a {@link CancellationException}. By then the task
     * has closed its consumers.
     */
    CompletableFuture<Rows.Totals> result() {
        return result;
    }

    void start() {
        signal();
    }

    /** Ends the task soon, from any thread. A block may be in use now, so the task closes its consumers itself. */
    void cancel() {
        cancelled = true;
        signal();
    }

    /** Makes the task run. A listener may be called in a thread that reads for others, so it must not do more. */
    private void signal() {
        if (signals.getAndIncrement() == 0) {
            executor.execute(this::run);
        }
    }

    private void run() {
        int seen = signals.get();
        if (!result.isDone()) {
            try {
                step();
            } catch (Throwable e) {
                closeInputs();
                result.completeExceptionally(e);
            }
        }
        if (signals.addAndGet(-seen) != 0) {
            // Not a loop: other tasks get their turn.
            executor.execute(this::run);
        }
    }

    private void step() throws FaroException, InputFault {
        checkCancelled();
        if (inputs == null) {
            open();
        }
        for (Iterator<Input> left = inputs.iterator(); left.hasNext();) {
            Input input = left.next();
            try {
                if (takeAll(input.consumer())) {
                    input.consumer().close();
                    left.remove();
                }
            } catch (FaroException e) {
                throw new InputFault(input.output(), e);
            }
        }
        if (inputs.isEmpty()) {
            result.complete(totals);
        } else {
            // Instead of leaving the thread idle, reads for the tasks that wait. A consumer with news signals.
            scheduler.serve();
        }
    }

    private void open() throws FaroException {
        inputs = new ArrayList<>();
        for (Map.Entry<MapOutput, Reader> reader : readers.entrySet()) {
            Consumer consumer = scheduler.partition(reader.getValue(), partition);
            inputs.add(new Input(reader.getKey(), consumer));
            consumer.onReady(this::signal);
        }
    }

    /** Takes the blocks that have arrived; true after the last one. */
    private boolean takeAll(Consumer consumer) throws FaroException {
        Feed.State state = consumer.poll();
        while (state == Feed.State.BLOCK) {
            add(consumer.block());
            progress.blockRead(this);
            checkCancelled();
            state = consumer.poll();
        }
        return state == Feed.State.END;
    }

    /** Adds the records of a block: each is its length in 4 bytes, and its bytes (FRM-2). */
    private void add(BlockCursor block) throws FaroException {
        ByteBuffer records = block.framedPayload();
        while (records.hasRemaining()) {
            int end = records.getInt() + records.position();
            totals = totals.plus(records.getLong(records.position() + 8));
            records.position(end);
        }
    }

    private void checkCancelled() {
        if (cancelled) {
            throw new CancellationException();
        }
    }

    private void closeInputs() {
        if (inputs != null) {
            inputs.forEach(input -> input.consumer().close());
        }
    }
}
