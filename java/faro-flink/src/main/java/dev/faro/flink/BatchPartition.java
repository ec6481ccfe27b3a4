package dev.faro.flink;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.io.network.api.EndOfData;
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

/** What the partitions of batch jobs share: the counts of Flink's metrics, and the calls that mean nothing to them. */
abstract class BatchPartition extends ResultPartition {
    private final OutputSettings settings;
    /** Bytes for all subpartitions that were not yet added to the count of each. */
    private long broadcastBytes;
    private boolean endOfDataNotified;

    BatchPartition(String owner, int partitionIndex, ResultPartitionID id, ResultPartitionType type,
            int subpartitions, int keyGroups, ResultPartitionManager manager,
            SupplierWithException<BufferPool, IOException> bufferPool, OutputSettings settings) {
        // Flink gets no compressor, because Faro compresses blocks.
        super(owner, partitionIndex, id, type, subpartitions, keyGroups, manager, null, bufferPool);
        this.settings = settings;
    }

    /** The settings of the output, with the paths of its files. */
    final OutputSettings settings() {
        return settings;
    }

    /** Writes an event for all subpartitions. */
    abstract void writeEvent(int kind, ByteBuffer event) throws IOException;

    @Override
    public final void broadcastEvent(AbstractEvent event, boolean isPriorityEvent) throws IOException {
        Buffer buffer = EventSerializer.toBuffer(event, isPriorityEvent);
        try {
            checkInProduceState();
            writeEvent(Events.kind(buffer.getDataType()), buffer.getNioBufferReadable());
            countBroadcast(buffer.readableBytes());
        } finally {
            buffer.recycleBuffer();
        }
    }

    @Override
    public final void notifyEndOfData(StopMode mode) throws IOException {
        if (!endOfDataNotified) {
            broadcastEvent(new EndOfData(mode), false);
            endOfDataNotified = true;
        }
    }

    final void countRecord(int subpartition, int bytes) {
        resultPartitionBytes.inc(subpartition, bytes);
        numBytesOut.inc(bytes);
    }

    final void countBroadcast(int bytes) {
        broadcastBytes += bytes;
        numBytesOut.inc((long) bytes * numSubpartitions);
    }

    /**
     * Ends the counts. Block boundaries are known only at the end, so each subpartition is counted as the buffers that its
     * bytes fill.
     */
    final void countBuffers() {
        resultPartitionBytes.incAll(broadcastBytes);
        long buffers = 0;
        for (long bytes : resultPartitionBytes.createSnapshot().getSubpartitionBytes()) {
            buffers += (bytes + settings.blockSize() - 1) / settings.blockSize();
        }
        numBuffersOut.inc(buffers);
    }

    final void checkHas(ResultSubpartitionIndexSet subpartitions) {
        if (subpartitions.getEndIndex() >= numSubpartitions) {
            throw new IndexOutOfBoundsException(
                    "expected subpartitions below " + numSubpartitions + ", found " + subpartitions);
        }
    }

    @Override
    protected final ResultSubpartitionView createSubpartitionView(int index, BufferAvailabilityListener listener)
            throws IOException {
        return createSubpartitionView(new ResultSubpartitionIndexSet(index), listener);
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
        // Consumers read whole regions: those of a finished output, or those that end because a consumer waits.
    }

    @Override
    public void flush(int subpartitionIndex) {
        // Consumers read whole regions: those of a finished output, or those that end because a consumer waits.
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
