package dev.faro.flink;

import dev.faro.Buffers;
import dev.faro.writer.Writer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.io.network.api.EndOfData;
import org.apache.flink.runtime.io.network.api.EndOfPartitionEvent;
import org.apache.flink.runtime.io.network.api.StopMode;
import org.apache.flink.runtime.io.network.api.serialization.EventSerializer;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.BufferPool;
import org.apache.flink.runtime.io.network.partition.BufferAvailabilityListener;
import org.apache.flink.runtime.io.network.partition.ResultPartition;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionManager;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionIndexSet;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionView;
import org.apache.flink.util.function.SupplierWithException;

/**
 * A blocking partition with its records and events in a pair of Faro files. One task writes it; it is read any number
 * of times when it is finished.
 */
final class FaroResultPartition extends ResultPartition {
    /** With more subpartitions than this, records wait in network buffers. */
    private static final int MOST_ON_HEAP = 16;

    private final OutputSettings settings;
    private final FinishedOutput output;

    private final Object lock = new Object();
    /**
     * Used only by the task's thread, which always closes the partition. Other threads that release it leave closing to
     * that thread.
     */
    private Writer writer;
    private boolean endOfDataNotified;
    /** Bytes for all subpartitions that were not yet added to the count of each. */
    private long broadcastBytes;

    /**
     * Makes a partition that writes nothing before {@link #setup}.
     *
     * @param reads reads the partition when it is finished
     */
    FaroResultPartition(String owner, int partitionIndex, ResultPartitionID id, ResultPartitionType type,
            int subpartitions, int keyGroups, ResultPartitionManager manager,
            SupplierWithException<BufferPool, IOException> bufferPool, OutputSettings settings, OutputReads reads) {
        // Flink gets no compressor, because Faro compresses blocks.
        super(owner, partitionIndex, id, type, subpartitions, keyGroups, manager, null, bufferPool);
        this.settings = settings;
        this.output = new FinishedOutput(
                id, owner, settings.data(), settings.index(), settings.blockSize(), reads);
    }

    /** The settings of the output, with the paths of its files. */
    OutputSettings settings() {
        return settings;
    }

    @Override
    protected void setupInternal() throws IOException {
        synchronized (lock) {
            if (isReleased()) {
                throw new IOException("expected a partition to be written, found a released one");
            }
            // The pool's current share is the limit of what may be sorted at once. Few subpartitions are collected on
            // the heap, which is faster; so all partitions together take at most as much heap as there is network memory.
            long sortMemory = (long) bufferPool.getNumBuffers() * settings.blockSize();
            Buffers memory = numSubpartitions > MOST_ON_HEAP ? new NetworkMemory(bufferPool) : null;
            writer = settings.create(numSubpartitions, sortMemory, memory);
        }
    }

    @Override
    public void emitRecord(ByteBuffer record, int targetSubpartition) throws IOException {
        checkInProduceState();
        int bytes = record.remaining();
        writer.write(targetSubpartition, record);
        resultPartitionBytes.inc(targetSubpartition, bytes);
        numBytesOut.inc(bytes);
    }

    @Override
    public void broadcastRecord(ByteBuffer record) throws IOException {
        checkInProduceState();
        int size = record.remaining();
        writer.broadcast(record);
        countBroadcast(size);
    }

    @Override
    public void broadcastEvent(AbstractEvent event, boolean isPriorityEvent) throws IOException {
        Buffer buffer = EventSerializer.toBuffer(event, isPriorityEvent);
        try {
            checkInProduceState();
            writer.broadcastEvent(Events.kind(buffer.getDataType()), buffer.getNioBufferReadable());
            countBroadcast(buffer.readableBytes());
        } finally {
            buffer.recycleBuffer();
        }
    }

    private void countBroadcast(int size) {
        broadcastBytes += size;
        numBytesOut.inc((long) size * numSubpartitions);
    }

    @Override
    public void notifyEndOfData(StopMode mode) throws IOException {
        if (!endOfDataNotified) {
            broadcastEvent(new EndOfData(mode), false);
            endOfDataNotified = true;
        }
    }

    @Override
    public void finish() throws IOException {
        broadcastEvent(EndOfPartitionEvent.INSTANCE, false);
        resultPartitionBytes.incAll(broadcastBytes);
        countBuffers();
        synchronized (lock) {
            if (isReleased()) {
                throw new IllegalStateException("expected a partition to be finished, found a released one");
            }
            writer.finish();
            super.finish();
        }
        LOG.info("New Faro files produced: {} and {}.", settings.data(), settings.index());
    }

    /**
     * Block boundaries are known only at the end, so each subpartition is counted as the buffers that its bytes fill.
     */
    private void countBuffers() {
        long buffers = 0;
        for (long bytes : resultPartitionBytes.createSnapshot().getSubpartitionBytes()) {
            buffers += (bytes + settings.blockSize() - 1) / settings.blockSize();
        }
        numBuffersOut.inc(buffers);
    }

    @Override
    protected void releaseInternal() {
        synchronized (lock) {
            if (!isFinished()) {
                // The task may be inside a call of the writer. It closes the partition when that call ends.
                return;
            }
        }
        output.release();
    }

    @Override
    public void close() {
        synchronized (lock) {
            if (writer != null) {
                // Removes the files unless they are finished.
                writer.close();
                writer = null;
            }
        }
        super.close();
    }

    @Override
    protected ResultSubpartitionView createSubpartitionView(int index, BufferAvailabilityListener listener)
            throws IOException {
        return createSubpartitionView(new ResultSubpartitionIndexSet(index), listener);
    }

    @Override
    public ResultSubpartitionView createSubpartitionView(
            ResultSubpartitionIndexSet subpartitions, BufferAvailabilityListener listener) throws IOException {
        if (subpartitions.getEndIndex() >= numSubpartitions) {
            throw new IndexOutOfBoundsException(
                    "expected subpartitions below " + numSubpartitions + ", found " + subpartitions);
        }
        synchronized (lock) {
            if (!isFinished()) {
                throw new IllegalStateException("expected a finished partition, found one that is being written");
            }
        }
        FaroSubpartitionView view = new FaroSubpartitionView(output, subpartitions, listener);
        output.add(view);
        view.fillLater();
        return view;
    }

    @Override
    public void alignedBarrierTimeout(long checkpointId) {
        // Batch jobs have no checkpoints.
    }

    @Override
    public void abortCheckpoint(long checkpointId, CheckpointException cause) {
        // Batch jobs have no checkpoints.
    }

    @Override
    public void flushAll() {
        // No reader reads before the end.
    }

    @Override
    public void flush(int subpartitionIndex) {
        // No reader reads before the end.
    }

    @Override
    public CompletableFuture<?> getAvailableFuture() {
        return AVAILABLE;
    }

    @Override
    public int getNumberOfQueuedBuffers() {
        return 0;
    }

    @Override
    public long getSizeOfQueuedBuffersUnsafe() {
        return 0;
    }

    @Override
    public int getNumberOfQueuedBuffers(int targetSubpartition) {
        return 0;
    }
}
