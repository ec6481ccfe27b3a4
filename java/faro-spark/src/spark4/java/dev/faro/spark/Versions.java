package dev.faro.spark;

import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.shuffle.checksum.RowBasedChecksum;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.util.collection.ExternalSorter;
import scala.Option;
import scala.math.Ordering;

/** What differs between the lines of Spark: this is for 4.1 and later. */
final class Versions {
    private Versions() {}

    static MapStatus mapStatus(BlockManagerId location, long[] sizes, long mapId, long checksum) {
        return MapStatus$.MODULE$.apply(location, sizes, mapId, checksum);
    }

    /** The checksums that Spark compares between attempts of a task; they are the dependency's own. */
    static RowChecksums rowChecksums(ShuffleDependency<?, ?, ?> dependency) {
        RowBasedChecksum[] checksums = dependency.rowBasedChecksums();
        if (checksums.length == 0) {
            return RowChecksums.NONE;
        }
        return new RowChecksums() {
            @Override
            public void update(int partition, Object key, Object value) {
                checksums[partition].update(key, value);
            }

            @Override
            public long value() {
                return RowBasedChecksum.getAggregatedChecksumValue(checksums);
            }
        };
    }

    /** Sorts records by key. */
    static <K, C> ExternalSorter<K, C, C> sorter(TaskContext context, Option<Ordering<K>> order, Serializer serializer) {
        return new ExternalSorter<>(context, Option.empty(), Option.empty(), order, serializer, new RowBasedChecksum[0]);
    }
}
