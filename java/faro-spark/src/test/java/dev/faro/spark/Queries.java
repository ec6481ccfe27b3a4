package dev.faro.spark;

import java.util.List;
import java.util.stream.IntStream;

/** The queries of a benchmark that a test runs: all, or with the property {@code faro.every} each n-th of them. */
final class Queries {
    private static final int EVERY = Integer.getInteger("faro.every", 1);

    private Queries() {}

    static List<Integer> of(List<Integer> all) {
        return IntStream.range(0, all.size()).filter(at -> at % EVERY == 0).mapToObj(all::get).toList();
    }
}
