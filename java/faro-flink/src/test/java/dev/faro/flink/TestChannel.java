package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.NettyShuffleEnvironmentOptions.CompressionCodec;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.BufferDecompressor;
import org.apache.flink.runtime.io.network.partition.BufferAvailabilityListener;
import org.apache.flink.runtime.io.network.partition.ResultPartition;
import org.apache.flink.runtime.io.network.partition.ResultSubpartition.BufferAndBacklog;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionIndexSet;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionView;

/** Reads a view as a channel of another task manager does, without the network. */
final class TestChannel implements BufferAvailabilityListener {
    private final Semaphore available = new Semaphore(0);
    private final BufferDecompressor decompressor;
    private final ResultSubpartitionView view;
    private final int bufferSize;
    /** The buffers of the current message, which may have several. */
    private final ArrayDeque<Buffer> buffers = new ArrayDeque<>();
    private int sequence;
    private int messages;
    private volatile int queuedWhenNotified;

    /** Makes a channel for the subpartitions from {@code from} to {@code to}, both included. */
    TestChannel(ResultPartition partition, int from, int to, int bufferSize, CompressionCodec codec)
            throws IOException {
        this.bufferSize = bufferSize;
        decompressor = new BufferDecompressor(bufferSize, codec);
        view = partition.createSubpartitionView(new ResultSubpartitionIndexSet(from, to), this);
    }

    @Override
    public void notifyDataAvailable(ResultSubpartitionView which) {
        if (!hasNews()) {
            queuedWhenNotified = which.getNumberOfQueuedBuffers();
        }
        available.release();
    }

    /** Looks at a buffer, for a test. */
    interface Look {
        void at(Buffer buffer) throws IOException;
    }

    /** Waits for the next buffer, as it comes from the view, and recycles it. */
    void next(Look look) throws IOException, InterruptedException {
        if (buffers.isEmpty()) {
            nextMessage();
        }
        Buffer buffer = buffers.remove();
        try {
            look.at(buffer);
        } finally {
            buffer.recycleBuffer();
        }
    }

    private void nextMessage() throws IOException, InterruptedException {
        BufferAndBacklog next = view.getNextBuffer();
        while (next == null) {
            assertFalse(view.isReleased(), () -> "failed: " + view.getFailureCause());
            assertTrue(available.tryAcquire(20, TimeUnit.SECONDS), "notified that there is more");
            next = view.getNextBuffer();
        }
        Buffer message = next.buffer();
        assertTrue(message.readableBytes() <= bufferSize, "fits in a network buffer");
        buffers.addAll(parts(message));
        assertEquals(message.readableBytes(), buffers.stream().mapToInt(Buffer::readableBytes).sum());
        assertEquals(sequence, next.getSequenceNumber());
        sequence += buffers.size();
        messages++;
    }

    /** Flink 1.20 has no class for messages of several buffers. */
    private static List<Buffer> parts(Buffer message) {
        try {
            Method parts = message.getClass().getMethod("getPartialBuffers");
            return ((List<?>) parts.invoke(message)).stream().map(Buffer.class::cast).toList();
        } catch (NoSuchMethodException e) {
            return List.of(message);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** The number of messages when the channel was notified while it knew of none. */
    int queuedWhenNotified() {
        return queuedWhenNotified;
    }

    /** The number of messages. */
    int messages() {
        return messages;
    }

    /** Waits until the view has failed, and returns the failure. */
    Throwable waitForFailure() throws InterruptedException {
        while (!view.isReleased()) {
            assertTrue(available.tryAcquire(20, TimeUnit.SECONDS), "notified that it failed");
        }
        return view.getFailureCause();
    }

    /** The bytes of a buffer, decompressed. */
    byte[] bytes(Buffer buffer) {
        Buffer plain = buffer.isCompressed()
                ? decompressor.decompressToIntermediateBuffer(buffer) : buffer.retainBuffer();
        byte[] bytes = new byte[plain.readableBytes()];
        plain.getNioBufferReadable().get(bytes);
        plain.recycleBuffer();
        return bytes;
    }

    /** Whether the channel was notified, now or before. */
    boolean hasNews() {
        return available.availablePermits() > 0;
    }

    ResultSubpartitionView view() {
        return view;
    }
}
