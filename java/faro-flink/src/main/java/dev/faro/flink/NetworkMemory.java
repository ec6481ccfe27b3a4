package dev.faro.flink;

import dev.faro.Buffers;
import java.nio.ByteBuffer;
import java.util.IdentityHashMap;
import java.util.Map;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.runtime.io.network.buffer.BufferPool;

/**
 * The network buffers of a partition's pool, in which its records wait until they are written, as those of Flink's sort
 * shuffle do. Only the partition's task uses it.
 */
final class NetworkMemory implements Buffers {
    private final BufferPool pool;
    private final Map<ByteBuffer, MemorySegment> taken = new IdentityHashMap<>();

    NetworkMemory(BufferPool pool) {
        this.pool = pool;
    }

    /** Null if the pool has no free buffer now: the writer then writes what it has, and gives its buffers back. */
    @Override
    public ByteBuffer take(int wanted) {
        MemorySegment segment = pool.requestMemorySegment();
        if (segment == null) {
            return null;
        }
        ByteBuffer buffer = segment.wrap(0, segment.size());
        taken.put(buffer, segment);
        return buffer;
    }

    @Override
    public void giveBack(ByteBuffer buffer) {
        pool.recycle(taken.remove(buffer));
    }
}
