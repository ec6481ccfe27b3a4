import dev.faro.Buffers;
import dev.faro.MemoryBudget;
import java.nio.ByteBuffer;

/**
 * The memory of one task: what was reserved for it, which it is never refused, and more as long as the engine has some.
 * A writer uses it as its budget and for its records, a scheduler for what it reads; readers use it as their budget.
 */
final class TaskMemory implements MemoryBudget, Buffers, AutoCloseable {
    private final EngineMemory engine;
    private final long reserved;
    private long used;

    /** Memory of which the engine has granted {@code reserved} bytes already. */
    TaskMemory(EngineMemory engine, long reserved) {
        this.engine = engine;
        this.reserved = reserved;
    }

    @Override
    public synchronized boolean tryGrow(long bytes) {
        long more = beyond(used + bytes) - beyond(used);
        if (more > 0 && !engine.tryGrow(more)) {
            return false;
        }
        used += bytes;
        return true;
    }

    @Override
    public void shrink(long bytes) {
        long less;
        synchronized (this) {
            less = beyond(used) - beyond(used - bytes);
            used -= bytes;
        }
        // Also when all of it stays reserved: a scheduler may wait for it.
        engine.shrink(less);
    }

    /** How many of that many bytes were not reserved. */
    private long beyond(long bytes) {
        return Math.max(0, bytes - reserved);
    }

    /** A segment, whatever is wanted: a writer takes several, and so does a scheduler. */
    @Override
    public ByteBuffer take(int wanted) {
        return tryGrow(EngineMemory.SEGMENT) ? engine.takeSegment() : null;
    }

    @Override
    public void giveBack(ByteBuffer segment) {
        engine.keepSegment(segment);
        shrink(EngineMemory.SEGMENT);
    }

    /** Ends the reservation. All else must have been given back. */
    @Override
    public void close() {
        // First, so that a task with an error does not take the others' memory.
        engine.shrink(reserved);
        if (used != 0) {
            throw new IllegalStateException("a task ended with " + used + " bytes in use");
        }
    }
}
