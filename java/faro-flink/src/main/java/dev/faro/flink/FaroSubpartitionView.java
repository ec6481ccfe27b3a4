package dev.faro.flink;

import dev.faro.reader.Feed;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.partition.BufferAvailabilityListener;
import org.apache.flink.runtime.io.network.partition.ResultSubpartition.BufferAndBacklog;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionIndexSet;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionView;
import org.apache.flink.runtime.io.network.partition.consumer.InputChannel;

/**
 * One consumer's reading of some subpartitions. A few messages are made ahead, by tasks of the executor for reads, one at
 * a time; so neither the network's thread nor the consuming task's opens files or verifies. What goes over the network is
 * put together in messages as large as a network buffer.
 *
 * <p>When reading fails, the view is released with the reason. The network's thread finds it there and sends it on; a
 * channel in the same task manager would take a released view for a cancelled task and lose the reason, so it is thrown.
 */
final class FaroSubpartitionView implements ResultSubpartitionView {
    /** Messages that are made ahead, when nothing has to be repeated. */
    private static final int MOST_READY = 4;
    /** When so few are left, more are made. */
    private static final int FEW = MOST_READY / 2;

    private final FaroResultPartition partition;
    private final FinishedOutput output;
    private final ResultSubpartitionIndexSet subpartitions;
    private final BufferAvailabilityListener listener;
    private final boolean local;
    /** Bytes of a message of several buffers; 0 if each goes by itself. */
    private final int messageSize;

    private final Object lock = new Object();
    // Guarded by the lock.
    private final ArrayDeque<Message> ready = new ArrayDeque<>();
    private int readyData;
    /** Whether the listener was not told yet of what is there. */
    private boolean untold;
    private int sequenceNumber;
    /** Whether a task fills, or waits for a thread. */
    private boolean filling;
    /** Whether there may be more since the task looked. */
    private boolean again;
    private boolean ended;
    private boolean released;
    private boolean closed;
    private Throwable failureCause;

    /** Of the task that fills, and of who closes when none does. */
    private BufferReading reading;

    FaroSubpartitionView(FaroResultPartition partition, FinishedOutput output, ResultSubpartitionIndexSet subpartitions,
            BufferAvailabilityListener listener) {
        this.partition = partition;
        this.output = output;
        this.subpartitions = subpartitions;
        this.listener = listener;
        this.local = listener instanceof InputChannel;
        this.messageSize = local || !Message.canHoldSeveral() ? 0 : partition.settings().blockSize();
    }

    /** Has a task fill the queue, now or once more. */
    void fillLater() {
        synchronized (lock) {
            again = true;
            if (filling || released || ended) {
                return;
            }
            filling = true;
        }
        try {
            output.reads().executor().execute(this::fill);
        } catch (RejectedExecutionException e) {
            synchronized (lock) {
                filling = false;
            }
            fail(new IOException("expected an executor that runs reads, found one that was shut down", e));
        }
    }

    private void fill() {
        do {
            try {
                makeBuffers();
            } catch (IOException | RuntimeException | Error e) {
                // The executor would keep it to itself.
                fail(partition.failureOfReading(e));
            }
            tellOfRest();
        } while (!endFilling());
    }

    private void makeBuffers() throws IOException {
        if (reading == null && wantsMore()) {
            int from = subpartitions.getStartIndex();
            reading = output.open(from, subpartitions.getEndIndex() + 1, local);
            reading.listener(this::fillLater);
        }
        while (wantsMore()) {
            Feed.State state = reading.next(this::add);
            if (state == Feed.State.END) {
                synchronized (lock) {
                    ended = true;
                }
            }
            if (state != Feed.State.BLOCK) {
                return;
            }
        }
    }

    private boolean wantsMore() {
        synchronized (lock) {
            again = false;
            boolean room = ready.isEmpty() || ready.size() < MOST_READY && output.reads().memory().hasRoom();
            return !released && !ended && room;
        }
    }

    private boolean endFilling() {
        boolean close;
        synchronized (lock) {
            if (again && !released && !ended) {
                return false;
            }
            filling = false;
            close = mayClose();
        }
        if (close) {
            close();
        }
        return true;
    }

    private void add(Buffer buffer) {
        boolean tell;
        synchronized (lock) {
            if (released) {
                buffer.recycleBuffer();
                return;
            }
            Message last = ready.peekLast();
            if (last == null || messageSize == 0 || !last.add(buffer, messageSize)) {
                untold |= last == null;
                ready.add(new Message(buffer));
                if (buffer.isBuffer()) {
                    readyData++;
                }
            }
            // More may come at once that goes with the first.
            tell = untold && (messageSize == 0 || ready.size() > 1);
            untold &= !tell;
        }
        if (tell) {
            notifyDataAvailable();
        }
    }

    /** Tells of what waits for more, which does not come at once. */
    private void tellOfRest() {
        boolean tell;
        synchronized (lock) {
            tell = untold && !released;
            untold = false;
        }
        if (tell) {
            notifyDataAvailable();
        }
    }

    @Override
    public BufferAndBacklog getNextBuffer() throws IOException {
        BufferAndBacklog next;
        boolean few;
        synchronized (lock) {
            Message message = ready.poll();
            if (message == null) {
                if (local && failureCause != null) {
                    throw new IOException(failureCause.getMessage(), failureCause);
                }
                return null;
            }
            untold = false;
            if (message.isData()) {
                readyData--;
            }
            Message following = ready.peek();
            Buffer.DataType nextType = following == null ? Buffer.DataType.NONE : following.type();
            next = new BufferAndBacklog(message.toBuffer(), readyData, nextType, sequenceNumber);
            sequenceNumber += message.size();
            few = ready.size() <= FEW;
        }
        if (few) {
            fillLater();
        }
        return next;
    }

    @Override
    public void notifyDataAvailable() {
        listener.notifyDataAvailable(this);
    }

    /** Ends the reading with what the consumer fails with. */
    void fail(Throwable cause) {
        if (release(cause)) {
            notifyDataAvailable();
        }
    }

    @Override
    public void releaseAllResources() {
        release(null);
    }

    /** Releases the view, unless it was released before. */
    private boolean release(Throwable cause) {
        List<Message> dropped;
        boolean close;
        synchronized (lock) {
            if (released) {
                return false;
            }
            released = true;
            failureCause = cause;
            dropped = new ArrayList<>(ready);
            ready.clear();
            readyData = 0;
            close = mayClose();
        }
        dropped.forEach(Message::recycle);
        if (close) {
            close();
        }
        return true;
    }

    /** Whether the caller has to close now. */
    private boolean mayClose() {
        if (!released || filling || closed) {
            return false;
        }
        closed = true;
        return true;
    }

    private void close() {
        if (reading != null) {
            reading.close();
        }
        output.remove(this);
    }

    @Override
    public boolean isReleased() {
        synchronized (lock) {
            return released;
        }
    }

    @Override
    public Throwable getFailureCause() {
        synchronized (lock) {
            return failureCause;
        }
    }

    @Override
    public AvailabilityWithBacklog getAvailabilityAndBacklog(boolean isCreditAvailable) {
        synchronized (lock) {
            boolean available =
                    released || !ready.isEmpty() && (isCreditAvailable || !ready.peek().isData());
            return new AvailabilityWithBacklog(available, readyData);
        }
    }

    @Override
    public int unsynchronizedGetNumberOfQueuedBuffers() {
        return getNumberOfQueuedBuffers();
    }

    @Override
    public int getNumberOfQueuedBuffers() {
        synchronized (lock) {
            return ready.size();
        }
    }

    @Override
    public void resumeConsumption() {
        throw new UnsupportedOperationException("a blocking partition is never held up by a checkpoint");
    }

    @Override
    public void acknowledgeAllDataProcessed() {
        // Nobody waits for it: the producer is done.
    }

    @Override
    public void notifyNewBufferSize(int newBufferSize) {
        // The buffers are as large as they were written.
    }

    @Override
    public int peekNextBufferSubpartitionId() {
        // Of use for tiered storage alone; a block of one subpartition follows that of another at record boundaries.
        return -1;
    }
}
