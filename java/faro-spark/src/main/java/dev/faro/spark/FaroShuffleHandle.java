package dev.faro.spark;

import org.apache.spark.ShuffleDependency;
import org.apache.spark.shuffle.BaseShuffleHandle;

/** A shuffle whose map outputs are Faro files. Others have the handles of Spark's own manager. */
final class FaroShuffleHandle<K, V, C> extends BaseShuffleHandle<K, V, C> {
    private static final long serialVersionUID = 1;

    FaroShuffleHandle(int shuffleId, ShuffleDependency<K, V, C> dependency) {
        super(shuffleId, dependency);
    }
}
