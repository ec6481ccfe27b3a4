package dev.faro.spark;

import dev.faro.MemoryBudget;
import java.io.Flushable;
import java.io.IOException;
import org.apache.spark.memory.MemoryConsumer;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.memory.TaskMemoryManager;

/**
 * The memory of a writer, from Spark's memory of its task. If another consumer of the task needs it, the writer ends
 * its region in the final file and gives the memory back.
 */
final class TaskMemory extends MemoryConsumer implements MemoryBudget {
    private final Thread owner = Thread.currentThread();
    private Flushable output;
    /** Whether its writer is in the middle of a call. */
    private boolean busy;
    private long peak;
    private long spilled;

    TaskMemory(TaskMemoryManager manager) {
        super(manager, manager.pageSizeBytes(), MemoryMode.ON_HEAP);
    }

    /** The output that can be asked to end its region; null once it has ended. */
    void setOutput(Flushable one) {
        output = one;
    }

    /** Before and after each call of the output. */
    void setBusy(boolean now) {
        busy = now;
    }

    @Override
    public boolean tryGrow(long bytes) {
        long granted = acquireMemory(bytes);
        if (granted < bytes) {
            freeMemory(granted);
            return false;
        }
        peak = Math.max(peak, getUsed());
        return true;
    }

    @Override
    public void shrink(long bytes) {
        freeMemory(bytes);
    }

    @Override
    public long spill(long size, MemoryConsumer trigger) throws IOException {
        // A writer that asks for itself ends its region when it is refused.
        if (trigger == this || busy || output == null || Thread.currentThread() != owner) {
            return 0;
        }
        long before = getUsed();
        output.flush();
        long freed = before - getUsed();
        spilled += freed;
        return freed;
    }

    /** The most memory at one time, in bytes. */
    long peak() {
        return peak;
    }

    /** The memory that was given back because others needed it, in bytes. */
    long spilled() {
        return spilled;
    }
}
