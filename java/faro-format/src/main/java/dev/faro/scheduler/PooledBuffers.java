package dev.faro.scheduler;

import dev.faro.Buffers;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/** Keeps buffers of up to 256 KiB for later requests, in sizes of whole pages. The kept memory is limited. */
final class PooledBuffers implements Buffers {
    private static final int PAGE = 4 << 10;
    private static final int LARGEST = 64;

    private final long mostKept;
    private long kept;
    private final ArrayDeque<ByteBuffer>[] free;

    @SuppressWarnings({"unchecked", "rawtypes"})
    PooledBuffers(long mostKept) {
        this.mostKept = mostKept;
        this.free = new ArrayDeque[LARGEST + 1];
    }

    @Override
    public ByteBuffer take(int wanted) {
        int pages = (int) Math.min(LARGEST, (wanted + (PAGE - 1L)) / PAGE);
        synchronized (this) {
            if (free[pages] != null && !free[pages].isEmpty()) {
                kept -= (long) PAGE * pages;
                return free[pages].pop().clear();
            }
        }
        return ByteBuffer.allocateDirect(PAGE * pages);
    }

    @Override
    public synchronized void giveBack(ByteBuffer buffer) {
        if (kept + buffer.capacity() > mostKept) {
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
