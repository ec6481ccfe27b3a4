package dev.faro.internal.message;

import java.util.Arrays;

/** The ranges of a message that its parts occupy, each as start and end in one number that sorts by start. */
final class Parts {
    private long[] spans = new long[16];
    private int count;

    void add(int start, int length) {
        if (count == spans.length) {
            spans = Arrays.copyOf(spans, 2 * count);
        }
        spans[count++] = (long) start << 32 | (start + length);
    }

    /** Sorts the ranges, and removes repetitions. */
    void sortAndMerge() {
        Arrays.sort(spans, 0, count);
        int kept = 0;
        for (int i = 0; i < count; i++) {
            if (kept == 0 || spans[i] != spans[kept - 1]) {
                spans[kept++] = spans[i];
            }
        }
        count = kept;
    }

    void addAll(Parts other) {
        for (int i = 0; i < other.count; i++) {
            add(other.start(i), other.end(i) - other.start(i));
        }
    }

    void sort() {
        Arrays.sort(spans, 0, count);
    }

    int count() {
        return count;
    }

    int start(int i) {
        return (int) (spans[i] >>> 32);
    }

    int end(int i) {
        return (int) spans[i];
    }
}
