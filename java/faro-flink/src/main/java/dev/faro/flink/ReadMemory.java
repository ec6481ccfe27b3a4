package dev.faro.flink;

import dev.faro.scheduler.SchedulerOptions;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Shares the direct memory for reading among the outputs that are being read. It is what Flink sets aside for its own
 * pool of read buffers ({@code taskmanager.memory.framework.off-heap.batch-shuffle.size}), which is not used, and so not
 * allocated, as long as all blocking partitions are Faro's.
 *
 * <p>Each output has a share of its own that no other can take. With one budget for all, tasks that read their inputs
 * one after the other would fill it with what they read later, and then wait for room for what they read first.
 */
final class ReadMemory {
    private static final int GAP = 64 << 10;
    private static final long LEAST = 128 << 10;
    private static final long MOST_READ = 1 << 20;
    /** An output's budget, as much that is kept for the next reads, and the memory of reads for several consumers. */
    private static final int PARTS = 3;

    private final long bytes;
    private final AtomicInteger outputs = new AtomicInteger();

    ReadMemory(long bytes) {
        this.bytes = bytes;
    }

    /** The share of an output that is being opened; {@link #giveBack} when it is closed. */
    SchedulerOptions take() {
        long budget = Math.max(LEAST, bytes / (PARTS * (outputs.incrementAndGet() + 1L)));
        return new SchedulerOptions(GAP, (int) Math.min(MOST_READ, budget), budget);
    }

    void giveBack() {
        outputs.decrementAndGet();
    }
}
