package dev.faro.hybrid;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The memory that hybrid stores share, usually one for each process (HYB-6). When more than 70 % of it is in use, regions
 * leave it until 40 % are: first those of stores without a consumer, then those that will be consumed last. Safe to share
 * between threads.
 *
 * <p>Blocks exceed it by at most one region for each store: a region is complete in memory before it is counted. The
 * message of a region is counted too. That of a selective store stays until all of its partitions have passed the region,
 * so messages alone can exceed the memory: every region is written at once then, and producers wait for the writes. The
 * sort buffers of the stores' writers are not counted.
 */
public final class HybridMemory {
    /** The most bytes, so that ten times as many are a number too. */
    private static final long MOST = 1L << 56;

    /** Guards the regions of all stores too. No file is used, and no caller's code is run, by a thread that has it. */
    final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final long bytes;
    private final List<Resident> stores = new ArrayList<>();
    private long used;
    private long leaving;
    private int spills;

    /**
     * Makes a memory.
     *
     * @param bytes its size, 0 to 2^56; with 0, every region is spilled
     * @throws IllegalArgumentException for another size
     */
    public HybridMemory(long bytes) {
        if (bytes < 0 || bytes > MOST) {
            throw new IllegalArgumentException("a size of 0 to 2^56 bytes, not " + bytes);
        }
        this.bytes = bytes;
    }

    /** The size in bytes. */
    public long bytes() {
        return bytes;
    }

    /** The bytes of blocks and of region messages that are in memory (HYB-6). */
    public long used() {
        lock.lock();
        try {
            return used;
        } finally {
            lock.unlock();
        }
    }

    void add(Resident store) {
        lock.lock();
        try {
            stores.add(store);
        } finally {
            lock.unlock();
        }
    }

    void remove(Resident store) {
        lock.lock();
        try {
            stores.remove(store);
        } finally {
            lock.unlock();
        }
    }

    /** Counts a region, with its message, that is in memory now. With the lock. */
    void takes(long size) {
        used += size;
    }

    /** Counts bytes that are about to leave. With the lock. */
    void willLeave(long size) {
        leaving += size;
    }

    /** Counts bytes that have left. With the lock. */
    void left(long size) {
        used -= size;
        changed.signalAll();
    }

    /** Takes back {@link #willLeave}: the bytes leave now. With the lock. */
    void leaveNow(long size) {
        leaving -= size;
    }

    /** Counts a spill that begins. With the lock. */
    void spillBegins() {
        spills++;
    }

    /** Counts a spill that has ended. With the lock. */
    void spillEnds() {
        spills--;
        changed.signalAll();
    }

    /** Waits for a region to leave, or a spill to end. With the lock, which is given up meanwhile. */
    void await() {
        changed.awaitUninterruptibly();
    }

    /** Lets regions leave if there are too many, and waits while there is no room and a spill may make some. */
    void reclaim() {
        Set<Resident> chosen = new LinkedHashSet<>();
        lock.lock();
        try {
            if (10 * (used - leaving) > 7 * bytes) {
                while (10 * (used - leaving) > 4 * bytes) {
                    Resident store = choose();
                    if (store == null) {
                        break;
                    }
                    chosen.add(store);
                }
            }
        } finally {
            lock.unlock();
        }
        chosen.forEach(Resident::spill);
        lock.lock();
        try {
            while (used > bytes && spills > 0) {
                await();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Lets one region leave; returns its store, or null if none may leave. */
    private Resident choose() {
        for (Resident store : stores) {
            if (!store.isRead() && store.giveUp(false)) {
                return store;
            }
        }
        List<Resident> read = new ArrayList<>(stores);
        read.removeIf(store -> !store.isRead());
        read.sort((a, b) -> Long.compare(b.staying(), a.staying()));
        for (Resident store : read) {
            if (store.giveUp(true)) {
                return store;
            }
        }
        return null;
    }
}
