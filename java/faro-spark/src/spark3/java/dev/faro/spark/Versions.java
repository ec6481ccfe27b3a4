package dev.faro.spark;

import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.util.collection.ExternalSorter;
import scala.Option;
import scala.math.Ordering;

/** What differs between the lines of Spark: this is for 3.5. */
final class Versions {
    private Versions() {}

    static MapStatus mapStatus(BlockManagerId location, long[] sizes, long mapId, long checksum) {
        return MapStatus$.MODULE$.apply(location, sizes, mapId);
    }

    static RowChecksums rowChecksums(ShuffleDependency<?, ?, ?> dependency) {
        return RowChecksums.NONE;
    }

    /** Sorts records by key. */
    static <K, C> ExternalSorter<K, C, C> sorter(TaskContext context, Option<Ordering<K>> order, Serializer serializer) {
        return new ExternalSorter<>(context, Option.empty(), Option.empty(), order, serializer);
    }
}
