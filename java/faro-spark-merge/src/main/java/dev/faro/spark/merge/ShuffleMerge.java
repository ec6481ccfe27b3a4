package dev.faro.spark.merge;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.merge.FileIds;
import dev.faro.merge.Merge;
import dev.faro.merge.MergeOptions;
import dev.faro.merge.Names;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.network.server.BlockPushNonFatalFailure.ReturnCode;
import org.apache.spark.network.shuffle.protocol.PushBlockStream;
import org.roaringbitmap.RoaringBitmap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One merge of a shuffle: a merged file for each partition that something was pushed for. */
final class ShuffleMerge {
    private static final Logger LOG = LoggerFactory.getLogger(ShuffleMerge.class);
    /** What waits for its turn in one partition, at most, in bytes: a few blocks as Spark pushes them. */
    private static final long MOST_WAITING = 4 << 20;

    private final MergedApplication application;
    private final int shuffleId;
    private final int number;
    private final MergeSettings settings;
    /** Partitions that have files. */
    private final TreeSet<Integer> known = new TreeSet<>();
    /** Those that are being merged. Others are finished, or an earlier process made their files. */
    private final Map<Integer, Merge> open = new HashMap<>();
    /** Also read without the lock, so that pushes that are late do not wait for the end of {@link #finish}. */
    private volatile boolean over;

    /**
     * What was merged: of each partition its map tasks and its bytes.
     *
     * @param partitions ascending
     * @param maps for each of them
     * @param sizes for each of them
     */
    record Result(List<Integer> partitions, List<RoaringBitmap> maps, List<Long> sizes) {}

    ShuffleMerge(MergedApplication application, int shuffleId, int number, MergeSettings settings) {
        this.application = application;
        this.shuffleId = shuffleId;
        this.number = number;
        this.settings = settings;
    }

    /** The number of the merge: Spark's shuffleMergeId. */
    int number() {
        return number;
    }

    private MergedPartition partition(int reduceId) {
        return new MergedPartition(application.application(), shuffleId, number, reduceId);
    }

    /** There is a file of this partition. If one is finished, the merge was being finalized. */
    synchronized void found(int reduceId) {
        known.add(reduceId);
        over |= isFinished(name(reduceId));
    }

    StreamCallbackWithID receive(PushBlockStream push) {
        try {
            Merge merge = merge(push.reduceId);
            if (merge == null) {
                return ReceivedPush.refused(push, ReturnCode.TOO_LATE_BLOCK_PUSH);
            }
            return ReceivedPush.into(merge, push, settings.recent());
        } catch (IOException e) {
            return ReceivedPush.failed(push, e);
        }
    }

    /** The merge of a partition, or null if all is over. */
    private Merge merge(int reduceId) throws IOException {
        return over ? null : open(reduceId);
    }

    private synchronized Merge open(int reduceId) throws IOException {
        if (over) {
            return null;
        }
        Merge merge = open.get(reduceId);
        if (merge == null) {
            merge = known.contains(reduceId) ? resume(reduceId) : Merge.create(name(reduceId), options(reduceId));
            known.add(reduceId);
            open.put(reduceId, merge);
        }
        return merge;
    }

    private Path name(int reduceId) {
        return application.name(partition(reduceId));
    }

    private MergeOptions options(int reduceId) {
        Names names = new Names(application.application(), String.valueOf(shuffleId));
        return new MergeOptions(1).firstPartition(reduceId).framing(Framing.OPAQUE).generation(number).names(names)
                .fileId(FileIds.merged(names.application(), names.shuffle(), number, reduceId))
                .chunkSize(settings.chunkSize()).maxWaiting(MOST_WAITING).createdBy("faro-spark-merge")
                .property("faro.spark.application", names.application())
                .property("faro.spark.shuffle", names.shuffle())
                .property("faro.spark.merge", String.valueOf(number))
                .property("faro.spark.reduce", String.valueOf(reduceId));
    }

    /** Goes on with the file of an earlier process. One that is damaged begins anew: map tasks have everything. */
    private Merge resume(int reduceId) throws IOException {
        try {
            return Merge.resume(name(reduceId), options(reduceId));
        } catch (FaroException e) {
            if (e.code() == ErrorCode.IO) {
                throw e;
            }
            LOG.warn("{} begins anew.", partition(reduceId), e);
            removeFiles(reduceId);
            return Merge.create(name(reduceId), options(reduceId));
        }
    }

    /** Finishes all files. A partition whose file cannot be finished is not in the result. */
    synchronized Result finish() {
        over = true;
        Result result = new Result(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        for (int reduceId : known) {
            try {
                finish(reduceId, result);
            } catch (IOException | RuntimeException e) {
                LOG.warn("{} is not served: its blocks come from the map tasks.", partition(reduceId), e);
            }
        }
        return result;
    }

    private void finish(int reduceId, Result result) throws IOException {
        MergedPartition partition = partition(reduceId);
        Path name = name(reduceId);
        Merge merging = open.remove(reduceId);
        if (merging != null || !isFinished(name)) {
            try (Merge merge = merging != null ? merging : Merge.resume(name, options(reduceId))) {
                merge.finish();
            } finally {
                settings.recent().forget(merging);
            }
        }
        try (OpenOutputs.Lease merged = settings.outputs().open(MergedPartition.data(name), MergedPartition.index(name))) {
            RoaringBitmap maps = partition.maps(merged.reader());
            if (!maps.isEmpty()) {
                long size = LongStream.of(partition.chunkSizes(merged.reader())).sum();
                result.partitions.add(reduceId);
                result.maps.add(maps);
                result.sizes.add(size);
            }
        }
    }

    /** An unfinished file does not open. What is damaged is found when it is resumed. */
    private boolean isFinished(Path name) {
        try (OpenOutputs.Lease merged = settings.outputs().open(MergedPartition.data(name), MergedPartition.index(name))) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Ends the merge, and removes its files. */
    synchronized void remove() {
        over = true;
        close();
        for (int reduceId : known) {
            try {
                removeFiles(reduceId);
            } catch (IOException e) {
                LOG.warn("The files of {} are not removed.", partition(reduceId), e);
            }
        }
        known.clear();
    }

    /** The index goes first: without it the data file is not an output. */
    private void removeFiles(int reduceId) throws IOException {
        Path name = name(reduceId);
        settings.outputs().close(MergedPartition.index(name));
        Files.deleteIfExists(MergedPartition.index(name).toPath());
        Files.deleteIfExists(MergedPartition.data(name).toPath());
    }

    /** Closes the files that are being merged, as they are after their last chunk. */
    synchronized void close() {
        over = true;
        open.forEach((reduceId, merge) -> {
            try {
                merge.close();
                settings.recent().forget(merge);
            } catch (FaroException e) {
                LOG.warn("{} is not closed properly.", partition(reduceId), e);
            }
        });
        open.clear();
    }
}
