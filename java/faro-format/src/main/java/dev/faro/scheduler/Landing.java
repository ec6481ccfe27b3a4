package dev.faro.scheduler;

import dev.faro.MemoryBudget;
import dev.faro.internal.bytes.Grant;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Memory in which reads for several requests land, one buffer for each thread that is reading. Safe to share between
 * threads.
 */
final class Landing {
    private final int readBytes;
    private final MemoryBudget budget;
    private final ConcurrentLinkedQueue<ByteBuffer> free = new ConcurrentLinkedQueue<>();

    /** @param budget null if everything is granted */
    Landing(int readBytes, MemoryBudget budget) {
        this.readBytes = readBytes;
        this.budget = budget;
    }

    /** Takes memory of at least this many bytes; null if it was refused. */
    ByteBuffer take(int length) {
        ByteBuffer kept = free.poll();
        if (kept != null && kept.capacity() >= length) {
            return kept;
        }
        ByteBuffer made = null;
        try {
            made = make((int) Math.max(length, Math.min(readBytes, 2L * length)));
        } finally {
            if (made == null && kept != null) {
                free.add(kept);
            }
        }
        if (made != null && kept != null) {
            replace(kept, made);
        }
        return made;
    }

    private ByteBuffer make(int size) {
        return Grant.tryGrow(budget, size) ? allocate(size) : null;
    }

    /** Gives back what is too small. */
    private void replace(ByteBuffer kept, ByteBuffer made) {
        boolean done = false;
        try {
            Grant.shrink(budget, kept.capacity());
            done = true;
        } finally {
            if (!done) {
                free.add(made);
            }
        }
    }

    private ByteBuffer allocate(int size) {
        ByteBuffer made = null;
        try {
            made = ByteBuffer.allocateDirect(size);
            return made;
        } finally {
            if (made == null) {
                Grant.shrink(budget, size);
            }
        }
    }

    /** Keeps memory for the next read. */
    void giveBack(ByteBuffer buffer) {
        free.add(buffer);
    }

    /** Gives the engine its memory back, except what is in use; returns how much. Without a budget, it is kept. */
    long release() {
        long bytes = 0;
        if (budget != null) {
            for (ByteBuffer buffer = free.poll(); buffer != null; buffer = free.poll()) {
                bytes += buffer.capacity();
            }
            Grant.shrink(budget, bytes);
        }
        return bytes;
    }
}
