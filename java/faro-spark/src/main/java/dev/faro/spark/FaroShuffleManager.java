package dev.faro.spark;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.MapOutputTracker;
import org.apache.spark.MapSizesByExecutorId;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BlockStoreShuffleReader;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;

/**
 * The value of {@code spark.shuffle.manager}. All shuffles are written as Faro files. Where the serializer relocates
 * records, as all of Spark SQL and Kryo do, Faro's writer collects them; where it does not, as Java's, Spark's sorter does.
 */
public final class FaroShuffleManager extends SortShuffleManager {
    private static final Logger LOG = LoggerFactory.getLogger(FaroShuffleManager.class);

    private final SparkConf conf;
    private final FaroBlockResolver resolver;
    private final ConcurrentHashMap<Integer, Set<Long>> mapsOfShuffle = new ConcurrentHashMap<>();

    /**
     * Spark makes it, on the driver and on each executor.
     *
     * @throws IllegalArgumentException for a setting that Faro's shuffle does not go with
     */
    public FaroShuffleManager(SparkConf conf) {
        super(conf);
        Settings.check(conf);
        this.conf = conf;
        // Spark's own map, so that outputs that come from a decommissioned executor are removed too.
        this.resolver = new FaroBlockResolver(conf, super.shuffleBlockResolver());
        LOG.info("Shuffles are written as Faro files, {}.", new Settings(conf));
    }

    @Override
    public IndexShuffleBlockResolver shuffleBlockResolver() {
        // Null while the constructor of the class above runs.
        return resolver == null ? super.shuffleBlockResolver() : resolver;
    }

    @Override
    public <K, V, C> ShuffleHandle registerShuffle(int shuffleId, ShuffleDependency<K, V, C> dependency) {
        return new FaroShuffleHandle<>(shuffleId, dependency);
    }

    @Override
    public <K, V> ShuffleWriter<K, V> getWriter(
            ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
        @SuppressWarnings("unchecked")
        FaroShuffleHandle<K, V, ?> own = (FaroShuffleHandle<K, V, ?>) handle;
        mapsOfShuffle.computeIfAbsent(handle.shuffleId(), any -> ConcurrentHashMap.newKeySet()).add(mapId);
        Settings settings = new Settings(conf);
        return own.separateRecords() ? new FaroShuffleWriter<>(own, mapId, context, metrics, resolver, settings)
                : new StreamShuffleWriter<>(own, mapId, context, metrics, resolver, settings);
    }

    @Override
    public <K, C> ShuffleReader<K, C> getReader(ShuffleHandle handle, int startMapIndex, int endMapIndex,
            int startPartition, int endPartition, TaskContext context, ShuffleReadMetricsReporter metrics) {
        @SuppressWarnings("unchecked")
        FaroShuffleHandle<K, ?, C> own = (FaroShuffleHandle<K, ?, C>) handle;
        SparkEnv env = SparkEnv.get();
        MapOutputTracker tracker = env.mapOutputTracker();
        // The service would send the fragments of several partitions, and not say if one is missing.
        boolean batch = !new Settings(conf).served()
                && SortShuffleManager.canUseBatchFetch(startPartition, endPartition, context);
        Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks;
        // Streams cannot be read one after another as one, so merged blocks of them are not used.
        if (own.separateRecords() && own.dependency().isShuffleMergeFinalizedMarked()) {
            MapSizesByExecutorId merged = tracker.getPushBasedShuffleMapSizesByExecutorId(
                    handle.shuffleId(), startMapIndex, endMapIndex, startPartition, endPartition);
            blocks = merged.iter();
            // Spark says so if there are merged partitions among them.
            if (!merged.enableBatchFetch()) {
                Deliveries deliveries = new Deliveries(tracker.getMapSizesByExecutorId(
                        handle.shuffleId(), startMapIndex, endMapIndex, startPartition, endPartition));
                return new MergedShuffleReader<>(own, blocks, deliveries, context, metrics);
            }
        } else {
            blocks = tracker.getMapSizesByExecutorId(
                    handle.shuffleId(), startMapIndex, endMapIndex, startPartition, endPartition);
        }
        return new BlockStoreShuffleReader<>(own, blocks, context, metrics,
                new FragmentStreams(env, !own.separateRecords()), env.blockManager(), tracker, batch);
    }

    @Override
    public boolean unregisterShuffle(int shuffleId) {
        Set<Long> maps = mapsOfShuffle.remove(shuffleId);
        if (maps != null) {
            maps.forEach(mapId -> resolver.removeDataByMap(shuffleId, mapId));
        }
        return super.unregisterShuffle(shuffleId);
    }
}
