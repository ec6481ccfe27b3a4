package dev.faro.spark;

import java.io.InputStream;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.spark.Aggregator;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.MapOutputTracker;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.internal.config.package$;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockFetcherIterator;
import org.apache.spark.util.SystemClock;
import org.apache.spark.util.collection.ExternalSorter;
import org.roaringbitmap.RoaringBitmap;
import scala.Option;
import scala.Product2;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.Iterator$;
import scala.collection.Seq;
import scala.math.Ordering;

/**
 * Reads a shuffle that was merged. Spark fetches chunks and what it knows not to be merged. In the end the reader fetches
 * from the map tasks what has not come, so nothing is lost that a merged file, or an account of it, does not have.
 */
final class MergedShuffleReader<K, C> implements ShuffleReader<K, C> {
    private final ShuffleDependency<K, ?, C> dependency;
    private final Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks;
    private final Deliveries deliveries;
    private final TaskContext context;
    private final ShuffleReadMetricsReporter metrics;
    private final SparkEnv env = SparkEnv.get();
    private final MergedStreams streams;

    /** @param blocks what Spark wants to fetch: merged partitions, and originals */
    MergedShuffleReader(FaroShuffleHandle<K, ?, C> handle,
            Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks, Deliveries deliveries,
            TaskContext context, ShuffleReadMetricsReporter metrics) {
        this.dependency = handle.dependency();
        this.blocks = blocks;
        this.deliveries = deliveries;
        this.context = context;
        this.metrics = metrics;
        this.streams = new MergedStreams(new FragmentStreams(env, false), env.conf().getAppId(), deliveries, metrics);
    }

    @Override
    public Iterator<Product2<K, C>> read() {
        return interruptible(sorted(aggregated(interruptible(new Records()))));
    }

    private <T> Iterator<T> interruptible(Iterator<T> records) {
        return new InterruptibleIterator<>(context, records);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private Iterator<Product2<K, C>> aggregated(Iterator<Tuple2<Object, Object>> records) {
        if (dependency.aggregator().isEmpty()) {
            return (Iterator) records;
        }
        Aggregator aggregator = dependency.aggregator().get();
        return dependency.mapSideCombine() ? aggregator.combineCombinersByKey(records, context)
                : aggregator.combineValuesByKey(records, context);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private Iterator<Product2<K, C>> sorted(Iterator<Product2<K, C>> records) {
        Option<Ordering<K>> order = dependency.keyOrdering();
        if (order.isEmpty()) {
            return records;
        }
        ExternalSorter sorter = Versions.sorter(context, order, dependency.serializer());
        return sorter.insertAllAndUpdateMetrics(records);
    }

    private Iterator<Tuple2<BlockId, InputStream>> fetch(
            Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> wanted) {
        package$ config = package$.MODULE$;
        BlockStoreClient client = new MergedMetaClient(env.blockManager().blockStoreClient(), deliveries);
        return new ShuffleBlockFetcherIterator(context, client, env.blockManager(), env.mapOutputTracker(), wanted,
                this::wrap,
                this.<Long>setting(config.REDUCER_MAX_SIZE_IN_FLIGHT()) << 20,
                this.<Integer>setting(config.REDUCER_MAX_REQS_IN_FLIGHT()),
                this.<Integer>setting(config.REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS()),
                this.<Long>setting(config.MAX_REMOTE_BLOCK_SIZE_FETCH_TO_MEM()),
                this.<Integer>setting(config.SHUFFLE_MAX_ATTEMPTS_ON_NETTY_OOM()),
                this.<Boolean>setting(config.SHUFFLE_DETECT_CORRUPT()),
                this.<Boolean>setting(config.SHUFFLE_DETECT_CORRUPT_MEMORY()),
                this.<Boolean>setting(config.SHUFFLE_CHECKSUM_ENABLED()),
                this.<String>setting(config.SHUFFLE_CHECKSUM_ALGORITHM()), metrics, false, new SystemClock())
                .toCompletionIterator();
    }

    private InputStream wrap(BlockId id, InputStream stream) {
        try {
            return streams.wrap(id, stream);
        } catch (java.io.IOException e) {
            // Scala has no checked exceptions: Spark catches it.
            throw MergedShuffleReader.<RuntimeException>unchecked(e);
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Exception> E unchecked(Exception e) throws E {
        throw (E) e;
    }

    @SuppressWarnings("unchecked")
    private <T> T setting(ConfigEntry<?> entry) {
        SparkConf conf = env.conf();
        return (T) conf.get(entry);
    }

    /** Its type is not the same for every version of Scala. */
    @SuppressWarnings("unchecked")
    private static <T> Iterator<T> none() {
        return (Iterator<T>) (Iterator<?>) Iterator$.MODULE$.empty();
    }

    /** What has not come, from the map tasks. */
    private Iterator<Tuple2<BlockId, InputStream>> fetchMissing() {
        MapOutputTracker tracker = env.mapOutputTracker();
        Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> wanted = null;
        for (Map.Entry<Integer, RoaringBitmap> partition : deliveries.missing().entrySet()) {
            Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> originals =
                    tracker.getMapSizesForMergeResult(
                            dependency.shuffleId(), partition.getKey(), partition.getValue().clone());
            wanted = wanted == null ? originals : wanted.$plus$plus(() -> originals);
        }
        if (wanted == null) {
            return none();
        }
        metrics.incMergedFetchFallbackCount(1);
        return fetch(wanted);
    }

    /** The records of all blocks, and in the end of those that were missing. */
    private final class Records extends AbstractIterator<Tuple2<Object, Object>> {
        private final SerializerInstance serializer = dependency.serializer().newInstance();
        private Iterator<Tuple2<BlockId, InputStream>> fetched = fetch(blocks);
        private Iterator<Tuple2<Object, Object>> block = none();
        private boolean missingFetched;
        private boolean ended;

        @Override
        public boolean hasNext() {
            while (!block.hasNext()) {
                if (ended) {
                    return false;
                } else if (fetched.hasNext()) {
                    block = serializer.deserializeStream(fetched.next()._2()).asKeyValueIterator();
                } else if (!missingFetched) {
                    missingFetched = true;
                    fetched = fetchMissing();
                } else {
                    end();
                }
            }
            return true;
        }

        private void end() {
            ended = true;
            if (!deliveries.missing().isEmpty()) {
                throw new IllegalStateException("blocks of shuffle " + dependency.shuffleId() + " have not come: "
                        + deliveries.missing());
            }
            context.taskMetrics().mergeShuffleReadMetrics();
        }

        @Override
        public Tuple2<Object, Object> next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            metrics.incRecordsRead(1);
            return block.next();
        }
    }
}
