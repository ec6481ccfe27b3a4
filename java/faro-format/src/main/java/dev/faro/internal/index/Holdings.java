package dev.faro.internal.index;

import dev.faro.index.Run;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/** Which blocks of which producers a merged file has, from the runs of its regions in order (MRG-2). */
public final class Holdings {
    private static final Held NOTHING = new Held(0, false);

    private final Attempts attempts = new Attempts();
    private final Parts parts = new Parts();
    private boolean patchy;

    /**
     * How much of a partition a file has of one producer.
     *
     * @param blocks it has the blocks with the numbers below this
     * @param complete whether the producer has no further block for the partition
     */
    public record Held(long blocks, boolean complete) {}

    /** The producers, numbered, and the attempt of each. */
    private static final class Attempts extends Numbered {
        private long[] producers = {};
        private long[] attempts = {};

        @Override
        int hash(int number) {
            return Long.hashCode(producers[number]);
        }

        @Override
        void reserve(int capacity) {
            producers = grown(producers, capacity);
            attempts = grown(attempts, capacity);
        }

        /** The number of a producer, or -1. */
        int find(long producer) {
            int slot = first(Long.hashCode(producer));
            int number = at(slot);
            while (number >= 0 && producers[number] != producer) {
                slot = next(slot);
                number = at(slot);
            }
            return number;
        }

        int add(long producer, long attempt) {
            int number = add();
            producers[number] = producer;
            attempts[number] = attempt;
            added();
            return number;
        }
    }

    /** What there is of a producer, by its number, and a partition. */
    private static final class Parts extends Numbered {
        private int[] producers = {};
        private int[] partitions = {};
        private int[] blocks = {};
        private final BitSet complete = new BitSet();

        private static int hash(int producer, int partition) {
            return 31 * producer + partition;
        }

        @Override
        int hash(int number) {
            return hash(producers[number], partitions[number]);
        }

        @Override
        void reserve(int capacity) {
            producers = grown(producers, capacity);
            partitions = grown(partitions, capacity);
            blocks = grown(blocks, capacity);
        }

        int find(int producer, int partition) {
            int slot = first(hash(producer, partition));
            int number = at(slot);
            while (number >= 0 && (producers[number] != producer || partitions[number] != partition)) {
                slot = next(slot);
                number = at(slot);
            }
            return number;
        }

        int add(int producer, int partition) {
            int number = add();
            producers[number] = producer;
            partitions[number] = partition;
            added();
            return number;
        }

        Held get(int number) {
            return new Held(Integer.toUnsignedLong(blocks[number]), complete.get(number));
        }

        void set(int number, Held held) {
            // The number of a block has 32 bits, and the end of a run too (REG-8).
            blocks[number] = (int) held.blocks;
            complete.set(number, held.complete);
        }
    }

    /** The attempt of a producer that has a run, or null. */
    public Long attempt(long producer) {
        int number = attempts.find(producer);
        return number < 0 ? null : (Long) attempts.attempts[number];
    }

    /** What there is of a producer and a partition. */
    public Held held(long producer, int partition) {
        int number = attempts.find(producer);
        int part = number < 0 ? -1 : parts.find(number, partition);
        return part < 0 ? NOTHING : parts.get(part);
    }

    /** Adds a run. Returns the rule that it breaks, as a text, or null. */
    public String add(int partition, Run run) {
        int producer = attempts.find(run.producer());
        if (producer >= 0 && attempts.attempts[producer] != run.attempt()) {
            return "a run of attempt " + Long.toUnsignedString(run.attempt()) + " after one of attempt "
                    + Long.toUnsignedString(attempts.attempts[producer]);
        }
        int part = producer < 0 ? -1 : parts.find(producer, partition);
        Held before = part < 0 ? NOTHING : parts.get(part);
        long first = run.firstBlock();
        if (before.complete) {
            return "a run after the last of its producer in partition " + partition;
        }
        if (first != before.blocks && !(patchy && first > before.blocks)) {
            return "a run from block " + first + " on after " + before.blocks + " blocks in partition " + partition;
        }
        int whose = producer < 0 ? attempts.add(run.producer(), run.attempt()) : producer;
        parts.set(part < 0 ? parts.add(whose, partition) : part, new Held(first + run.blocks(), run.last()));
        return null;
    }

    /** Adds the runs of a region. Returns the rule that one breaks, or null; then nothing of the region is added. */
    public String add(RegionIndex region) {
        int producersBefore = attempts.count();
        int partsBefore = parts.count();
        Map<Integer, Held> changed = new HashMap<>();
        String[] fault = new String[1];
        region.forEachRun((partition, offset, run) -> {
            if (fault[0] == null) {
                int producer = attempts.find(run.producer());
                int part = producer < 0 ? -1 : parts.find(producer, partition);
                if (part >= 0 && part < partsBefore) {
                    changed.putIfAbsent(part, parts.get(part));
                }
                fault[0] = add(partition, run);
            }
        });
        if (fault[0] != null) {
            changed.forEach(parts::set);
            while (parts.count() > partsBefore) {
                parts.removeLast();
            }
            while (attempts.count() > producersBefore) {
                attempts.removeLast();
            }
        }
        return fault[0];
    }

    /** Notes that a region was refused, so that runs may begin later than is known (MRG-13). */
    public void skipRegion() {
        patchy = true;
    }
}
