package dev.faro.flink;

import dev.faro.scheduler.SchedulerOptions;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.runtime.io.network.buffer.BufferRecycler;

/**
 * The memory in which a task manager reads, shared by all outputs and all their consumers. Bytes that were read and not
 * used yet are in direct memory, as much as Flink reserves for its own pool of read buffers (
 * {@code taskmanager.memory.framework.off-heap.batch-shuffle.size}). That pool is not used, and so not allocated, while
 * all blocking partitions are Faro's. Buffers that consumers have not taken yet are in heap memory, half as much.
 *
 * <p>Flink's pool is not used because its calls wait for buffers, and fail after five minutes if the holders of the
 * buffers wait too. Here a consumer without memory never waits: each consumer may always hold one buffer and a page of
 * bytes that were read. So tasks that read their inputs one after another cannot block each other, whatever they keep
 * for later. The memory may be exceeded by that much for each consumer.
 */
final class ReadMemory implements BufferRecycler {
    private static final int GAP = 64 << 10;
    /** The maximum size of a read in bytes. It leaves most of the budget free if early consumers take nothing. */
    private static final int MAX_READ = 512 << 10;
    /** The budget, the same amount that is kept for the next reads, and the memory of reads for several consumers. */
    private static final int PARTS = 3;

    private final long bytes;
    private final AtomicLong ready = new AtomicLong();
    private final AtomicLong mostReady = new AtomicLong();

    /**
     * Makes unused memory.
     *
     * @param bytes the size of the direct memory in bytes
     */
    ReadMemory(long bytes) {
        this.bytes = bytes;
    }

    /** The options of the scheduler for all outputs, which uses the direct memory. */
    SchedulerOptions scheduling() {
        long budget = Math.max(SchedulerOptions.MIN_SIZE, bytes / PARTS);
        return SchedulerOptions.DEFAULT.withGapBytes(GAP).withReadBytes((int) Math.min(MAX_READ, budget))
                .withBudgetBytes(budget);
    }

    /** Whether a buffer may be made for a consumer that has one already. */
    boolean hasRoom() {
        return ready.get() < bytes / 2;
    }

    /** Allocates memory for a buffer. {@link #recycle} is called when its consumer does not need it any more. */
    MemorySegment take(int size) {
        mostReady.accumulateAndGet(ready.addAndGet(size), Math::max);
        return MemorySegmentFactory.wrap(new byte[size]);
    }

    @Override
    public void recycle(MemorySegment segment) {
        ready.addAndGet(-segment.size());
        segment.free();
    }

    /** Whether all memory for buffers was given back. */
    boolean isUnused() {
        return ready.get() == 0;
    }

    /** The largest number of bytes in buffers at one time. */
    long mostReady() {
        return mostReady.get();
    }
}
