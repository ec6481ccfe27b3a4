package dev.faro.flink;

import dev.faro.scheduler.SchedulerOptions;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.runtime.io.network.buffer.BufferRecycler;

/**
 * The memory in which a task manager reads, shared by all outputs and all their consumers. Direct memory for what was
 * read and not looked at yet, as much as Flink sets aside for its own pool of read buffers
 * ({@code taskmanager.memory.framework.off-heap.batch-shuffle.size}); that pool is not used, and so not allocated, as
 * long as all blocking partitions are Faro's. Heap memory, half as much, for buffers that consumers have not taken yet.
 *
 * <p>Flink's pool is not drawn on: it waits for buffers inside of the call, and gives up after five minutes when those
 * who hold them wait in turn. Here nobody waits for memory who has none: each consumer may always hold one buffer and a
 * page of what was read. So tasks that read their inputs one after the other cannot hold each other up, whatever they
 * keep of what they read later; and the memory may be exceeded by that much for each consumer.
 */
final class ReadMemory implements BufferRecycler {
    private static final int GAP = 64 << 10;
    /** No more is read at once, so that consumers that come early and take nothing leave most of the budget. */
    private static final int MOST_READ = 512 << 10;
    /** The budget, as much that is kept for the next reads, and the memory of reads for several consumers. */
    private static final int PARTS = 3;

    private final long bytes;
    private final AtomicLong ready = new AtomicLong();
    private final AtomicLong mostReady = new AtomicLong();

    /**
     * Memory of which nothing is taken yet.
     *
     * @param bytes of direct memory
     */
    ReadMemory(long bytes) {
        this.bytes = bytes;
    }

    /** How one scheduler for all outputs uses the direct memory. */
    SchedulerOptions scheduling() {
        long budget = Math.max(SchedulerOptions.LEAST, bytes / PARTS);
        return SchedulerOptions.DEFAULT.withGapBytes(GAP).withReadBytes((int) Math.min(MOST_READ, budget))
                .withBudgetBytes(budget);
    }

    /** Whether a buffer may be made for a consumer that has another. */
    boolean hasRoom() {
        return ready.get() < bytes / 2;
    }

    /** Memory for a buffer; {@link #recycle} when its consumer is done with it. */
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

    /** The most bytes of buffers that there were at once. */
    long mostReady() {
        return mostReady.get();
    }
}
