package dev.faro.flink;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.runtime.io.network.buffer.NetworkBufferPool;

/** How long threads take to get network buffers from Flink's pool, one with each request or ten. */
final class BufferRequests {
    /** As many as in the published measurement. */
    static final int BUFFERS = 100_000;
    static final int BATCH = 10;
    private static final int UNMEASURED = 3;
    private static final int REPETITIONS = 7;

    private final NetworkBufferPool pool;
    private final int threads;

    private BufferRequests(NetworkBufferPool pool, int threads) {
        this.pool = pool;
        this.threads = threads;
    }

    /**
     * The least, the median and the greatest time in milliseconds in which threads get {@link #BUFFERS} buffers together,
     * and give them back.
     */
    static double[] milliseconds(int threads, boolean batches) throws Exception {
        NetworkBufferPool pool = new NetworkBufferPool(threads * BATCH, 1 << 15);
        try {
            BufferRequests requests = new BufferRequests(pool, threads);
            double[] taken = new double[REPETITIONS];
            for (int i = -UNMEASURED; i < REPETITIONS; i++) {
                double each = requests.run(batches);
                if (i >= 0) {
                    taken[i] = each;
                }
            }
            Arrays.sort(taken);
            return new double[] {taken[0], taken[REPETITIONS / 2], taken[REPETITIONS - 1]};
        } finally {
            pool.destroyAllBufferPools();
            pool.destroy();
        }
    }

    private double run(boolean batches) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            long begin = System.nanoTime();
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                running.add(executor.submit(() -> {
                    for (int taken = 0; taken < BUFFERS / threads; taken += BATCH) {
                        take(batches).forEach(pool::recyclePooledMemorySegment);
                    }
                    return null;
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
            return (System.nanoTime() - begin) / 1e6;
        } finally {
            executor.shutdown();
        }
    }

    private List<MemorySegment> take(boolean batches) throws Exception {
        if (batches) {
            return pool.requestPooledMemorySegmentsBlocking(BATCH);
        }
        List<MemorySegment> taken = new ArrayList<>(BATCH);
        while (taken.size() < BATCH) {
            MemorySegment segment = pool.requestPooledMemorySegment();
            if (segment == null) {
                throw new IllegalStateException("the pool has no buffer left, although it has ten for each thread");
            }
            taken.add(segment);
        }
        return taken;
    }
}
