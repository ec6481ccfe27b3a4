package dev.faro.internal.reader;

import java.util.concurrent.atomic.LongAdder;

/** Counts the blocks that the cursors of a reader deliver. Safe to share between threads. */
public final class DeliveredBlocks {
    private final LongAdder blocks = new LongAdder();
    private final LongAdder plain = new LongAdder();
    private final LongAdder stored = new LongAdder();

    /** Adds blocks that one cursor has counted. */
    public void add(long count, long plainBytes, long storedBytes) {
        blocks.add(count);
        plain.add(plainBytes);
        stored.add(storedBytes);
    }

    /** The number of blocks. */
    public long blocks() {
        return blocks.sum();
    }

    /** The size of their plain payloads in bytes. */
    public long plainBytes() {
        return plain.sum();
    }

    /** The size of their stored payloads in bytes. */
    public long storedBytes() {
        return stored.sum();
    }
}
