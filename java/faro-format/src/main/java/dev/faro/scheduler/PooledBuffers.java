package dev.faro.scheduler;

import dev.faro.Buffers;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * Keeps buffers of up to 256 KiB for later requests, in sizes of whole pages. The kept memory is limited, and all of it
 * is at most what is granted.
 */
final class PooledBuffers implements Buffers {
    private static final int PAGE = Grants.LEAST;
    private static final int LARGEST = 64;

    private final long mostKept;
    private final Grants grants;
    private long kept;
    /** The size of the buffers in use, in bytes. */
    private long out;
    private final ArrayDeque<ByteBuffer>[] free;

    @SuppressWarnings({"unchecked", "rawtypes"})
    PooledBuffers(long mostKept, Grants grants) {
        this.grants = grants;
        this.mostKept = mostKept;
        this.free = new ArrayDeque[LARGEST + 1];
    }

    @Override
    public ByteBuffer take(int wanted) {
        int pages = (int) Math.min(LARGEST, (wanted + (PAGE - 1L)) / PAGE);
        synchronized (this) {
            out += (long) PAGE * pages;
            if (free[pages] != null && !free[pages].isEmpty()) {
                kept -= (long) PAGE * pages;
                return free[pages].pop().clear();
            }
            trim();
        }
        ByteBuffer made = null;
        try {
            made = ByteBuffer.allocateDirect(PAGE * pages);
            return made;
        } finally {
            if (made == null) {
                forget(pages);
            }
        }
    }

    private synchronized void forget(int pages) {
        out -= (long) PAGE * pages;
    }

    /** Drops kept buffers for which nothing is granted any more. */
    synchronized void trim() {
        long excess = out + kept - grants.granted();
        for (int pages = LARGEST; pages > 0 && excess > 0; pages--) {
            while (free[pages] != null && !free[pages].isEmpty() && excess > 0) {
                kept -= free[pages].pop().capacity();
                excess -= (long) PAGE * pages;
            }
        }
    }

    @Override
    public synchronized void giveBack(ByteBuffer buffer) {
        out -= buffer.capacity();
        if (kept + buffer.capacity() > Math.min(mostKept, grants.granted() - out)) {
            return;
        }
        int pages = buffer.capacity() / PAGE;
        if (free[pages] == null) {
            free[pages] = new ArrayDeque<>();
        }
        kept += buffer.capacity();
        free[pages].push(buffer);
    }
}
