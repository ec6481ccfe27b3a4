package dev.faro.flink;

import dev.faro.FaroException;
import dev.faro.hybrid.HybridConsumer;
import dev.faro.hybrid.HybridFigures;
import dev.faro.hybrid.HybridMemory;
import dev.faro.hybrid.HybridMode;
import dev.faro.hybrid.HybridOptions;
import dev.faro.hybrid.HybridStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.runtime.io.network.api.EndOfPartitionEvent;
import org.apache.flink.runtime.io.network.buffer.BufferPool;
import org.apache.flink.runtime.io.network.partition.BufferAvailabilityListener;
import org.apache.flink.runtime.io.network.partition.PartitionNotFoundException;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionManager;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionIndexSet;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionView;
import org.apache.flink.util.function.SupplierWithException;

/**
 * A hybrid partition, with its records and events in a hybrid store: consumers read it while one task writes it, from
 * memory as long as that lasts.
 */
final class FaroHybridPartition extends BatchPartition implements Readable {
    private final HybridMemory memory;
    private final HybridMode mode;
    private final OutputReads reads;
    private final ReadFailures failures;

    private final Object lock = new Object();
    // Guarded by the lock, except that any thread may read whether it was released.
    private final Set<FaroSubpartitionView> views = new HashSet<>();
    private volatile boolean released;
    private boolean ended;
    /** Whether the partition is finished and has few bytes. */
    private volatile boolean small;
    /** Written by the task's thread, which also closes it, unless it is finished. */
    private volatile HybridStore store;

    /**
     * Makes a partition that writes nothing before {@link #setup}.
     *
     * @param memory where regions are until they are consumed or written
     * @param mode what is written
     */
    FaroHybridPartition(String owner, int partitionIndex, ResultPartitionID id, ResultPartitionType type,
            int subpartitions, int keyGroups, ResultPartitionManager manager,
            SupplierWithException<BufferPool, IOException> bufferPool, OutputSettings settings, HybridMemory memory,
            HybridMode mode, OutputReads reads) {
        super(owner, partitionIndex, id, type, subpartitions, keyGroups, manager, bufferPool, settings);
        this.memory = memory;
        this.mode = mode;
        this.reads = reads;
        this.failures = new ReadFailures(id, owner, settings.name());
    }

    /** The store; null before {@link #setup}. */
    HybridStore store() {
        return store;
    }

    @Override
    protected void setupInternal() throws IOException {
        synchronized (lock) {
            if (released) {
                throw new IOException("expected a partition to be written, found a released one");
            }
            store = settings().createHybrid(
                    numSubpartitions, new HybridOptions(memory, mode).executor(reads.executor()));
        }
    }

    @Override
    public void emitRecord(ByteBuffer record, int targetSubpartition) throws IOException {
        checkInProduceState();
        int bytes = record.remaining();
        if (!released) {
            try {
                store.write(targetSubpartition, record);
            } catch (FaroException e) {
                throw failed(e);
            }
        }
        countRecord(targetSubpartition, bytes);
    }

    @Override
    public void broadcastRecord(ByteBuffer record) throws IOException {
        checkInProduceState();
        int size = record.remaining();
        if (!released) {
            try {
                store.broadcast(record);
            } catch (FaroException e) {
                throw failed(e);
            }
        }
        countBroadcast(size);
    }

    @Override
    void writeEvent(int kind, ByteBuffer event) throws IOException {
        if (!released) {
            try {
                store.broadcastEvent(kind, event);
            } catch (FaroException e) {
                throw failed(e);
            }
        }
    }

    /** Looks at the disk when the store has failed. */
    private FaroException failed(FaroException failure) {
        settings().disk().suspect(failure);
        return failure;
    }

    @Override
    public void finish() throws IOException {
        broadcastEvent(EndOfPartitionEvent.INSTANCE, false);
        countBuffers();
        // All consumers may have ended before, without reading to the end. The producer does not fail for that.
        if (!released) {
            try {
                store.finish();
            } catch (FaroException e) {
                throw failed(e);
            }
        }
        HybridFigures figures = store.figures();
        synchronized (lock) {
            ended = !released;
            small = figures.bytes() <= OutputReads.DIRECT_BYTES;
            super.finish();
        }
        LOG.info("Hybrid partition {} of {}: {} bytes, of which {} were written so far.", partitionId, getOwningTaskName(),
                figures.bytes(), figures.written());
    }

    @Override
    protected void releaseInternal() {
        List<FaroSubpartitionView> reading;
        boolean releases;
        synchronized (lock) {
            released = true;
            reading = List.copyOf(views);
            // Otherwise the task may be inside a call of the store, and releases it when that call ends.
            releases = ended;
        }
        reading.forEach(view -> view.fail(failures.released()));
        if (releases) {
            releaseStore();
        }
    }

    /**
     * Gives up memory and files. With many bytes, that is done in a thread that may wait for a spill and for the disk. A
     * small output does what a small blocking one does: its files have at most 64 KiB, and so has a spill.
     */
    private void releaseStore() {
        HybridStore written = store;
        if (written == null) {
            return;
        }
        try {
            if (small) {
                written.release();
            } else {
                reads.executor().execute(written::release);
            }
        } catch (RejectedExecutionException e) {
            written.release();
        }
    }

    @Override
    public void close() {
        boolean releases;
        synchronized (lock) {
            releases = !ended;
            released |= releases;
        }
        if (releases) {
            releaseStore();
        }
        super.close();
    }

    @Override
    public ResultSubpartitionView createSubpartitionView(
            ResultSubpartitionIndexSet subpartitions, BufferAvailabilityListener listener) throws IOException {
        checkHas(subpartitions);
        FaroSubpartitionView view = new FaroSubpartitionView(this, subpartitions, listener);
        synchronized (lock) {
            if (released || store == null) {
                throw new PartitionNotFoundException(partitionId);
            }
            views.add(view);
        }
        view.start();
        return view;
    }

    @Override
    public OutputReads reads() {
        return reads;
    }

    @Override
    public boolean isDirect() {
        if (!small) {
            return false;
        }
        // What is left to read is in memory, so the thread of a channel does not wait for a disk.
        HybridFigures now = store.figures();
        return now.written() == 0 || now.inMemory() == now.bytes();
    }

    @Override
    public int bufferSize() {
        return settings().blockSize();
    }

    /** Opens a reading. In selective mode a subpartition can be read once; otherwise its producer has to run again. */
    @Override
    public BufferReading open(int from, int to, boolean local) throws IOException {
        BlockSource.Wake wake = new BlockSource.Wake();
        List<HybridConsumer> consumers = new ArrayList<>();
        try {
            for (int i = from; i < to; i++) {
                consumers.add(store.open(i, wake));
            }
        } catch (FaroException e) {
            consumers.forEach(HybridConsumer::close);
            throw new IOException(e.getMessage(), new PartitionNotFoundException(partitionId));
        }
        return reads.reading(BlockSource.of(consumers, wake), 1, local);
    }

    @Override
    public Throwable failureOf(Throwable fault) {
        synchronized (lock) {
            if (released) {
                return failures.released();
            }
        }
        settings().disk().suspect(fault);
        return failures.of(fault);
    }

    @Override
    public void remove(FaroSubpartitionView view) {
        synchronized (lock) {
            views.remove(view);
        }
    }
}
