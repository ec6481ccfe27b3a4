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
 * A consumer's view of some subpartitions. Tasks of the read executor prepare a few messages in advance, one task at a
 * time, so neither the network's thread nor the consumer's thread opens files. If few bytes are left, which are in
 * memory, the thread that wants them prepares them: waking another one takes longer. Buffers for the network are joined
 * to messages of up to the size of a network buffer.
 *
 * <p>If reading fails, the view is released with the reason. The network's thread finds the reason there and sends it
 * on. A channel in the same task manager would treat a released view as a cancelled task and lose the reason, so there
 * it is thrown.
 */
final class FaroSubpartitionView implements ResultSubpartitionView {
    /** The number of messages that are prepared, if no data has to be repeated. */
    private static final int MAX_READY = 4;
    /** When only this many messages are left, more are prepared. */
    private static final int FEW = MAX_READY / 2;

    private final Readable output;
    private final ResultSubpartitionIndexSet subpartitions;
    private final BufferAvailabilityListener listener;
    private final boolean local;
    /** The maximum size of a message of several buffers, in bytes; 0 if each buffer is sent by itself. */
    private final int messageSize;

    private final Object lock = new Object();
    // Guarded by the lock.
    private final ArrayDeque<Message> ready = new ArrayDeque<>();
    private int readyData;
    /** Whether there are messages that the listener was not notified of. */
    private boolean unannounced;
    private int sequenceNumber;
    /** Whether a task is filling the queue, or is waiting for a thread. */
    private boolean filling;
    /** Whether there may be more data since the task looked. */
    private boolean lookAgain;
    private boolean ended;
    private boolean released;
    private boolean closed;
    private Throwable failureCause;

    /**
     * A thread of the channel that is filling the queue for itself. The listener is not notified of what it finds,
     * because the channel may hold locks, and looks when the call ends.
     */
    private Thread own;

    /** Used by the task that fills the queue, and by the thread that closes the view when no task does. */
    private BufferReading reading;

    FaroSubpartitionView(
            Readable output, ResultSubpartitionIndexSet subpartitions, BufferAvailabilityListener listener) {
        this.output = output;
        this.subpartitions = subpartitions;
        this.listener = listener;
        this.local = listener instanceof InputChannel;
        this.messageSize = local || !Message.canHoldSeveral() ? 0 : output.bufferSize();
    }

    /** Begins to read. The caller hands the view to a channel, which then asks for buffers. */
    void start() {
        if (!fillDirectly()) {
            fillLater();
        }
    }

    /** Fills the queue in this thread, if the output permits that. Returns whether it was done, or nothing is left. */
    private boolean fillDirectly() {
        if (!output.isDirect() || !begin()) {
            return false;
        }
        synchronized (lock) {
            own = Thread.currentThread();
        }
        try {
            fill();
        } finally {
            synchronized (lock) {
                own = null;
            }
        }
        return true;
    }

    /** Whether the caller is to fill the queue now; otherwise a task that does so looks again. */
    private boolean begin() {
        synchronized (lock) {
            lookAgain = true;
            if (filling || released || ended) {
                return false;
            }
            filling = true;
            return true;
        }
    }

    /** Starts a task that fills the queue, or makes the current one look again. */
    void fillLater() {
        if (!begin()) {
            return;
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
                // The executor would not report the failure.
                fail(output.failureOf(e));
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
            lookAgain = false;
            boolean room = ready.isEmpty() || ready.size() < MAX_READY && output.reads().memory().hasRoom();
            return !released && !ended && room;
        }
    }

    private boolean endFilling() {
        boolean close;
        synchronized (lock) {
            if (lookAgain && !released && !ended) {
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
                unannounced |= last == null;
                ready.add(new Message(buffer));
                if (buffer.isBuffer()) {
                    readyData++;
                }
            }
            // More buffers for the first message may follow at once.
            tell = unannounced && (messageSize == 0 || ready.size() > 1);
            unannounced &= !tell;
        }
        if (tell) {
            tell();
        }
    }

    /** Notifies the listener, unless this is a thread of the channel that looks anyway. */
    private void tell() {
        boolean looks;
        synchronized (lock) {
            looks = own == Thread.currentThread();
        }
        if (!looks) {
            notifyDataAvailable();
        }
    }

    /** Notifies the listener of a message that was waiting for more buffers, when none follow at once. */
    private void tellOfRest() {
        boolean tell;
        synchronized (lock) {
            tell = unannounced && !released;
            unannounced = false;
        }
        if (tell) {
            tell();
        }
    }

    @Override
    public BufferAndBacklog getNextBuffer() throws IOException {
        BufferAndBacklog next;
        boolean fewLeft;
        synchronized (lock) {
            fewLeft = ready.size() <= FEW && !ended && !released;
        }
        // Before this call knows what follows the buffer that it returns.
        boolean filled = fewLeft && fillDirectly();
        synchronized (lock) {
            Message message = ready.poll();
            if (message == null) {
                if (local && failureCause != null) {
                    throw new IOException(failureCause.getMessage(), failureCause);
                }
                return null;
            }
            unannounced = false;
            if (message.isData()) {
                readyData--;
            }
            Message following = ready.peek();
            Buffer.DataType nextType = following == null ? Buffer.DataType.NONE : following.type();
            next = new BufferAndBacklog(message.toBuffer(), readyData, nextType, sequenceNumber);
            sequenceNumber += message.size();
            fewLeft = ready.isEmpty() || ready.size() <= FEW && !filled;
        }
        if (fewLeft) {
            fillLater();
        }
        return next;
    }

    @Override
    public void notifyDataAvailable() {
        listener.notifyDataAvailable(this);
    }

    /** Ends the reading with the failure that the consumer gets. */
    void fail(Throwable cause) {
        if (release(cause)) {
            tell();
        }
    }

    @Override
    public void releaseAllResources() {
        release(null);
    }

    /** Releases the view, unless it is released already. */
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

    /** Whether the caller has to close the reading now. */
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
        // No task waits for this: the producer has ended.
    }

    @Override
    public void notifyNewBufferSize(int newBufferSize) {
        // The buffers have the size with which they were written.
    }

    @Override
    public int peekNextBufferSubpartitionId() {
        // Only tiered storage uses this. Blocks of different subpartitions follow each other at record boundaries.
        return -1;
    }
}
