package dev.faro.internal.index;

import java.util.Arrays;

/**
 * Numbers keys 0, 1, 2, …, in a hash table of numbers; a subclass has the keys, by number, in arrays. So a key takes a
 * few bytes, and not the objects of a map. The key that was added last can be removed.
 */
abstract class Numbered {
    private static final int LEAST = 16;

    /** A number plus one, or 0; their count is a power of two. */
    private int[] slots = {};
    private int count;

    /** The hash of a key. */
    abstract int hash(int number);

    /** Makes room for keys below this number. */
    abstract void reserve(int capacity);

    final int count() {
        return count;
    }

    /** The slot at which to look for a key with this hash. */
    final int first(int hash) {
        return spread(hash) & slots.length - 1;
    }

    /** The slot after this one. */
    final int next(int slot) {
        return slot + 1 & slots.length - 1;
    }

    /** The number in a slot, or -1: no key with this hash is after it. */
    final int at(int slot) {
        return slots.length == 0 ? -1 : slots[slot] - 1;
    }

    /** Adds a key that is not there; the subclass stores it under the returned number, and then calls {@link #added}. */
    final int add() {
        if (4L * (count + 1) > 3L * slots.length) {
            int size = Math.max(LEAST, 2 * slots.length);
            slots = new int[size];
            for (int number = 0; number < count; number++) {
                place(number);
            }
        }
        reserve(count + 1);
        return count;
    }

    final void added() {
        place(count++);
    }

    /** Removes the key that was added last: no other one was placed after it. */
    final void removeLast() {
        count--;
        int slot = first(hash(count));
        while (slots[slot] != count + 1) {
            slot = next(slot);
        }
        slots[slot] = 0;
    }

    private void place(int number) {
        int slot = first(hash(number));
        while (slots[slot] != 0) {
            slot = next(slot);
        }
        slots[slot] = number + 1;
    }

    private static int spread(int hash) {
        int mixed = hash * 0x9E3779B9;
        return mixed ^ mixed >>> 15;
    }

    /** The capacity to grow to for this many keys. */
    static int grown(int wanted) {
        return Math.max(LEAST, wanted + (wanted >> 2));
    }

    static long[] grown(long[] values, int capacity) {
        return capacity <= values.length ? values : Arrays.copyOf(values, grown(capacity));
    }

    static int[] grown(int[] values, int capacity) {
        return capacity <= values.length ? values : Arrays.copyOf(values, grown(capacity));
    }
}
