package dev.faro.spark;

import org.apache.spark.ShuffleDependency;
import org.apache.spark.shuffle.BaseShuffleHandle;

/** A shuffle whose map outputs are Faro files. */
final class FaroShuffleHandle<K, V, C> extends BaseShuffleHandle<K, V, C> {
    private static final long serialVersionUID = 1;

    private final boolean separateRecords;

    FaroShuffleHandle(int shuffleId, ShuffleDependency<K, V, C> dependency) {
        super(shuffleId, dependency);
        // Here, on the driver: Kryo's serializer makes an instance to find out.
        this.separateRecords = dependency.serializer().supportsRelocationOfSerializedObjects();
    }

    /** Whether records are serialized one by one; else those of a partition are one stream. */
    boolean separateRecords() {
        return separateRecords;
    }
}
