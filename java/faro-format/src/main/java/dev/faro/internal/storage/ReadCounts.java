package dev.faro.internal.storage;

import java.util.concurrent.atomic.LongAdder;

/** Counts the requests to one file. Safe to share between threads. */
public final class ReadCounts {
    private final LongAdder reads = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder nanos = new LongAdder();

    /** Adds a request that began at a value of {@link System#nanoTime}. */
    void add(long count, long begin) {
        reads.increment();
        bytes.add(count);
        nanos.add(System.nanoTime() - begin);
    }

    /** The number of requests. */
    public long reads() {
        return reads.sum();
    }

    /** The number of bytes that they returned. */
    public long bytes() {
        return bytes.sum();
    }

    /** The time in them, in nanoseconds. */
    public long nanos() {
        return nanos.sum();
    }
}
