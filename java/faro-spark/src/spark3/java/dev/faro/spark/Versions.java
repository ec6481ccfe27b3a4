package dev.faro.spark;

import org.apache.spark.ShuffleDependency;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.storage.BlockManagerId;

/** What differs between the lines of Spark: this is for 3.5. */
final class Versions {
    private Versions() {}

    static MapStatus mapStatus(BlockManagerId location, long[] sizes, long mapId, long checksum) {
        return MapStatus$.MODULE$.apply(location, sizes, mapId);
    }

    static RowChecksums rowChecksums(ShuffleDependency<?, ?, ?> dependency) {
        return RowChecksums.NONE;
    }
}
