import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The memory of an engine: one limit for all tasks, and direct segments of one size. A task gets a part that is its own
 * ({@link #reserve}), and shares the rest with others. Safe to share between threads.
 */
final class EngineMemory {
    /** The size of a segment in bytes. */
    static final int SEGMENT = 32 << 10;

    private final long limit;
    private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();
    private final List<Runnable> roomListeners = new CopyOnWriteArrayList<>();
    private long granted;
    private long mostGranted;
    private long refusals;
    private int segmentsInUse;

    EngineMemory(long limit) {
        this.limit = limit;
    }

    /** Makes the memory of a task. Waits until that many bytes are free. */
    synchronized TaskMemory reserve(long bytes) throws InterruptedException {
        if (bytes > limit) {
            throw new IllegalArgumentException("a task needs " + bytes + " bytes of " + limit);
        }
        while (!hasRoom(bytes)) {
            wait();
        }
        grant(bytes);
        return new TaskMemory(this, bytes);
    }

    /** Grants a task more than its own part, or refuses it. Never waits: the task would keep what it has meanwhile. */
    synchronized boolean tryGrow(long bytes) {
        if (!hasRoom(bytes)) {
            refusals++;
            return false;
        }
        grant(bytes);
        return true;
    }

    private boolean hasRoom(long bytes) {
        return bytes <= limit - granted;
    }

    private void grant(long bytes) {
        granted += bytes;
        mostGranted = Math.max(mostGranted, granted);
        // Segments that no task uses are memory too.
        while (!free.isEmpty() && granted + (long) SEGMENT * free.size() > limit) {
            free.pop();
        }
    }

    void shrink(long bytes) {
        synchronized (this) {
            granted -= bytes;
            notifyAll();
        }
        // Without the lock: a listener may call this object.
        roomListeners.forEach(Runnable::run);
    }

    /** Has a listener called when memory was given back, until it is removed. */
    void addRoomListener(Runnable listener) {
        roomListeners.add(listener);
    }

    void removeRoomListener(Runnable listener) {
        roomListeners.remove(listener);
    }

    /** A segment for memory that was granted. */
    synchronized ByteBuffer takeSegment() {
        segmentsInUse++;
        return free.isEmpty() ? ByteBuffer.allocateDirect(SEGMENT) : free.pop().clear();
    }

    synchronized void keepSegment(ByteBuffer segment) {
        segmentsInUse--;
        free.push(segment);
    }

    synchronized long limit() {
        return limit;
    }

    synchronized long granted() {
        return granted;
    }

    synchronized long mostGranted() {
        return mostGranted;
    }

    synchronized long refusals() {
        return refusals;
    }

    synchronized int segmentsInUse() {
        return segmentsInUse;
    }
}
