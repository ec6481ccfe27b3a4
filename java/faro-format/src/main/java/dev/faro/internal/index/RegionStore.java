package dev.faro.internal.index;

import dev.faro.MemoryBudget;
import dev.faro.internal.bytes.Grant;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Regions of one or more outputs in memory of limited size. Safe to share between threads. The budget is called without
 * the lock.
 */
public final class RegionStore {
    private final long most;
    private final MemoryBudget budget;
    private final Map<Key, RegionIndex> regions = new LinkedHashMap<>(16, 0.75f, true);
    private final Map<Object, Share> shares = new IdentityHashMap<>();
    private long memory;

    /** A region of one owner. Owners are compared by identity: two files can claim to be the same output. */
    private record Key(Object owner, int number) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Key key && key.owner == owner && key.number == number;
        }

        @Override
        public int hashCode() {
            return 31 * System.identityHashCode(owner) + number;
        }
    }

    /** What one owner has in the store. */
    private static final class Share {
        final Set<Integer> numbers = new HashSet<>();
        long memory;
    }

    /**
     * Makes an empty store.
     *
     * @param most the maximum size of the regions, in bytes
     * @param budget grants a region before it is kept; null if everything is granted
     */
    public RegionStore(long most, MemoryBudget budget) {
        this.most = most;
        this.budget = budget;
    }

    /** The maximum size of the regions, in bytes. */
    public long most() {
        return most;
    }

    /** The size of all regions in the store, in bytes. */
    public synchronized long memory() {
        return memory;
    }

    /** The size of the regions of one owner, in bytes. */
    synchronized long memory(Object owner) {
        Share share = shares.get(owner);
        return share == null ? 0 : share.memory;
    }

    /** Returns a region, which becomes the last one to leave; or null. */
    synchronized RegionIndex get(Object owner, int number) {
        return regions.get(new Key(owner, number));
    }

    synchronized boolean has(Object owner, int number) {
        Share share = shares.get(owner);
        return share != null && share.numbers.contains(number);
    }

    /** Whether a region of this size would drive out no other. */
    synchronized boolean hasRoom(long size) {
        return size <= most - memory;
    }

    /**
     * Keeps a region, if it is not too large and the budget grants its memory; others leave.
     *
     * @param closed whether the owner keeps regions no more; asked with the lock of {@link #removeAll}
     */
    void put(Object owner, int number, RegionIndex region, BooleanSupplier closed) {
        long size = region.memory();
        if (size > most) {
            return;
        }
        if (!Grant.tryGrow(budget, size)) {
            // Older regions make room, as they do when the store is full.
            Grant.shrink(budget, evict(size));
            if (!Grant.tryGrow(budget, size)) {
                return;
            }
        }
        long back = size;
        try {
            back = size - grow(owner, number, region, closed);
        } finally {
            Grant.shrink(budget, back);
        }
    }

    /** Keeps a region; returns by how much the memory grew, in bytes. */
    private synchronized long grow(Object owner, int number, RegionIndex region, BooleanSupplier closed) {
        Key key = new Key(owner, number);
        // Another thread may have read the same region.
        if (closed.getAsBoolean() || regions.get(key) != null) {
            return 0;
        }
        long before = memory;
        regions.put(key, region);
        count(owner, number, region.memory());
        evict(memory - most);
        return memory - before;
    }

    /** Drops the eldest regions, until this many bytes are free or none is left; returns how many are. */
    private synchronized long evict(long bytes) {
        long before = memory;
        Iterator<Map.Entry<Key, RegionIndex>> eldest = regions.entrySet().iterator();
        while (before - memory < bytes && eldest.hasNext()) {
            Map.Entry<Key, RegionIndex> leaving = eldest.next();
            eldest.remove();
            count(leaving.getKey().owner, leaving.getKey().number, -leaving.getValue().memory());
        }
        return before - memory;
    }

    private void count(Object owner, int number, long change) {
        memory += change;
        Share share = shares.computeIfAbsent(owner, any -> new Share());
        share.memory += change;
        if (change > 0) {
            share.numbers.add(number);
        } else {
            share.numbers.remove(number);
            if (share.numbers.isEmpty()) {
                shares.remove(owner);
            }
        }
    }

    /** Removes all regions of an owner. */
    void removeAll(Object owner) {
        Share share;
        synchronized (this) {
            share = shares.remove(owner);
            if (share != null) {
                share.numbers.forEach(number -> regions.remove(new Key(owner, number)));
                memory -= share.memory;
            }
        }
        if (share != null) {
            Grant.shrink(budget, share.memory);
        }
    }
}
