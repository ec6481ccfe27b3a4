package dev.faro.internal.index;

import dev.faro.index.Run;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/** Which blocks of which producers a merged file has, from the runs of its regions in order (MRG-2). */
public final class Holdings {
    private static final Held NOTHING = new Held(0, false);

    private final Map<Long, Long> attempts = new HashMap<>();
    private final Map<Key, Held> held = new HashMap<>();
    private boolean patchy;

    private record Key(long producer, int partition) {}

    /**
     * How much of a partition a file has of one producer.
     *
     * @param blocks it has the blocks with the numbers below this
     * @param complete whether the producer has no further block for the partition
     */
    public record Held(long blocks, boolean complete) {}

    /** The values before a run was added, to take it back. */
    private record Before(Key key, Held held, Long attempt) {}

    /** The attempt of a producer that has a run, or null. */
    public Long attempt(long producer) {
        return attempts.get(producer);
    }

    /** What there is of a producer and a partition. */
    public Held held(long producer, int partition) {
        return held.getOrDefault(new Key(producer, partition), NOTHING);
    }

    /** Adds a run. Returns the rule that it breaks, as a text, or null. */
    public String add(int partition, Run run) {
        Key key = new Key(run.producer(), partition);
        Long attempt = attempts.putIfAbsent(run.producer(), run.attempt());
        if (attempt != null && attempt != run.attempt()) {
            return "a run of attempt " + Long.toUnsignedString(run.attempt()) + " after one of attempt "
                    + Long.toUnsignedString(attempt);
        }
        Held before = held.getOrDefault(key, NOTHING);
        long first = run.firstBlock();
        if (before.complete) {
            return "a run after the last of its producer in partition " + partition;
        }
        if (first != before.blocks && !(patchy && first > before.blocks)) {
            return "a run from block " + first + " on after " + before.blocks + " blocks in partition " + partition;
        }
        held.put(key, new Held(first + run.blocks(), run.last()));
        return null;
    }

    /** Adds the runs of a region. Returns the rule that one breaks, or null; then nothing of the region is added. */
    public String add(RegionIndex region) {
        Deque<Before> before = new ArrayDeque<>();
        String[] fault = new String[1];
        region.forEachRun((partition, offset, run) -> {
            if (fault[0] == null) {
                Key key = new Key(run.producer(), partition);
                before.push(new Before(key, held.get(key), attempts.get(run.producer())));
                fault[0] = add(partition, run);
            }
        });
        if (fault[0] != null) {
            before.forEach(one -> {
                restore(held, one.key, one.held);
                restore(attempts, one.key.producer, one.attempt);
            });
        }
        return fault[0];
    }

    private static <K, V> void restore(Map<K, V> map, K key, V value) {
        if (value == null) {
            map.remove(key);
        } else {
            map.put(key, value);
        }
    }

    /** Notes that a region was refused, so that runs may begin later than is known (MRG-13). */
    public void skipRegion() {
        patchy = true;
    }
}
