package dev.faro.flink;

import dev.faro.Buffers;
import dev.faro.writer.Finished;
import dev.faro.writer.Writer;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.flink.runtime.io.network.api.EndOfPartitionEvent;
import org.apache.flink.runtime.io.network.buffer.BufferPool;
import org.apache.flink.runtime.io.network.partition.BufferAvailabilityListener;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionManager;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionIndexSet;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionView;
import org.apache.flink.util.function.SupplierWithException;

/**
 * A blocking partition with its records and events in a Faro file, or in a pair of them if they did not fit into the
 * sort buffer. One task writes it; it is read any number of times when it is finished.
 */
final class FaroResultPartition extends BatchPartition {
    /** With more subpartitions than this, records wait in network buffers. */
    private static final int MOST_ON_HEAP = 16;

    private final PartitionFiles files;
    private final FinishedOutput output;

    private final Object lock = new Object();
    /**
     * Used only by the task's thread, which always closes the partition. Other threads that release it leave closing to
     * that thread.
     */
    private Writer writer;

    /**
     * Makes a partition that writes nothing before {@link #setup}.
     *
     * @param reads reads the partition when it is finished
     */
    FaroResultPartition(String owner, int partitionIndex, ResultPartitionID id, ResultPartitionType type,
            int subpartitions, int keyGroups, ResultPartitionManager manager,
            SupplierWithException<BufferPool, IOException> bufferPool, OutputSettings settings, OutputReads reads) {
        super(owner, partitionIndex, id, type, subpartitions, keyGroups, manager, bufferPool, settings);
        this.files = new PartitionFiles(settings.disk(), settings.name());
        this.output = new FinishedOutput(id, owner, files, settings.blockSize(), reads);
    }

    /** The files of the partition, when it has any. */
    PartitionFiles files() {
        return files;
    }

    @Override
    protected void setupInternal() throws IOException {
        synchronized (lock) {
            if (isReleased()) {
                throw new IOException("expected a partition to be written, found a released one");
            }
            // The pool's current share is the limit of what may be sorted at once. Few subpartitions are collected on
            // the heap, which is faster; so all partitions together take at most as much heap as there is network memory.
            long sortMemory = (long) bufferPool.getNumBuffers() * settings().blockSize();
            Buffers memory = numSubpartitions > MOST_ON_HEAP ? new NetworkMemory(bufferPool) : null;
            writer = settings().create(files, numSubpartitions, sortMemory, memory);
        }
    }

    @Override
    public void emitRecord(ByteBuffer record, int targetSubpartition) throws IOException {
        checkInProduceState();
        int bytes = record.remaining();
        writer.write(targetSubpartition, record);
        countRecord(targetSubpartition, bytes);
    }

    @Override
    public void broadcastRecord(ByteBuffer record) throws IOException {
        checkInProduceState();
        int size = record.remaining();
        writer.broadcast(record);
        countBroadcast(size);
    }

    @Override
    void writeEvent(int kind, ByteBuffer event) throws IOException {
        writer.broadcastEvent(kind, event);
    }

    @Override
    public void finish() throws IOException {
        broadcastEvent(EndOfPartitionEvent.INSTANCE, false);
        countBuffers();
        synchronized (lock) {
            if (isReleased()) {
                throw new IllegalStateException("expected a partition to be finished, found a released one");
            }
            Finished finished = writer.finishAndOpen(output.reads().readerOptions());
            output.finished(finished.reader());
            super.finish();
            LOG.info("New Faro files produced: {}.", String.join(" and ", finished.summary().names()));
        }
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
                if (!isFinished()) {
                    // What closing could not remove, or an output that was finished and not handed over.
                    files.delete();
                }
            }
        }
        super.close();
    }

    @Override
    public ResultSubpartitionView createSubpartitionView(
            ResultSubpartitionIndexSet subpartitions, BufferAvailabilityListener listener) throws IOException {
        checkHas(subpartitions);
        synchronized (lock) {
            if (!isFinished()) {
                throw new IllegalStateException("expected a finished partition, found one that is being written");
            }
        }
        FaroSubpartitionView view = new FaroSubpartitionView(output, subpartitions, listener);
        output.add(view);
        view.start();
        return view;
    }
}
