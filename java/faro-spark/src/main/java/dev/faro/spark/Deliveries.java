package dev.faro.spark;

import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockId;
import org.roaringbitmap.RoaringBitmap;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;

/**
 * Which blocks a reduce task has to get, and which it has got: one from each map task that has something for a partition,
 * exactly once, and from the attempt that counts. Chunks of merged files and Spark's account of them may say otherwise.
 */
final class Deliveries {
    /** The map tasks that count, by the unique number of the attempt. */
    private final Map<Long, Integer> mapIndexes = new HashMap<>();
    /** By partition, the map tasks that have something for it. Other threads read it. */
    private final Map<Integer, RoaringBitmap> expected = new HashMap<>();
    /** By partition, the map tasks whose blocks have not come yet. */
    private final SortedMap<Integer, RoaringBitmap> missing = new TreeMap<>();

    /** Expects all blocks that Spark names for the partitions, without merged ones. */
    Deliveries(Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> originals) {
        while (originals.hasNext()) {
            Iterator<Tuple3<BlockId, Object, Object>> blocks = originals.next()._2().iterator();
            while (blocks.hasNext()) {
                Tuple3<BlockId, Object, Object> block = blocks.next();
                ShuffleBlockId id = (ShuffleBlockId) block._1();
                int mapIndex = (Integer) block._3();
                mapIndexes.put(id.mapId(), mapIndex);
                expected.computeIfAbsent(id.reduceId(), none -> new RoaringBitmap()).add(mapIndex);
            }
        }
        expected.forEach((reduceId, maps) -> missing.put(reduceId, maps.clone()));
    }

    /** Whether all these map tasks have something for a partition. */
    boolean expects(RoaringBitmap maps, int reduceId) {
        RoaringBitmap all = expected.get(reduceId);
        return all != null && all.contains(maps);
    }

    /** Whether this attempt of a map task counts. */
    boolean counts(long mapId) {
        return mapIndexes.containsKey(mapId);
    }

    /** The number of the map task of an attempt that counts. */
    int mapIndex(long mapId) {
        return mapIndexes.get(mapId);
    }

    /** Whether a block is expected that has not come yet. */
    boolean isMissing(int mapIndex, int reduceId) {
        RoaringBitmap maps = missing.get(reduceId);
        return maps != null && maps.contains(mapIndex);
    }

    /** Whether this attempt counts, is of this map task, and its block has not come yet. */
    boolean isMissing(long mapId, long mapIndex, int reduceId) {
        Integer counted = mapIndexes.get(mapId);
        return counted != null && counted == mapIndex && isMissing(counted, reduceId);
    }

    /** A block has come. */
    void deliver(int mapIndex, int reduceId) {
        missing.get(reduceId).remove(mapIndex);
    }

    /** The map tasks whose blocks have not come, by partition; empty if all have. */
    SortedMap<Integer, RoaringBitmap> missing() {
        missing.values().removeIf(RoaringBitmap::isEmpty);
        return missing;
    }
}
