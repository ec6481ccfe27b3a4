package dev.faro.spark;

import dev.faro.reader.ReaderOptions;
import dev.faro.spark.merge.MergedPartition;
import dev.faro.spark.merge.OpenOutputs;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.MergedBlockMeta;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;
import org.apache.spark.storage.ShuffleMergedBlockId;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.collection.immutable.List;
import scala.collection.mutable.ListBuffer;

/**
 * Serves blocks of Faro outputs, which have the names of Spark's files, as fragments, and chunks of Faro's merged files,
 * which are on the same host, as rows of fragments. Spark's own files are served as Spark does.
 */
final class FaroBlockResolver extends IndexShuffleBlockResolver {
    private final OpenOutputs outputs = new OpenOutputs();

    FaroBlockResolver(SparkConf conf, IndexShuffleBlockResolver stock) {
        super(conf, null, stock.taskIdMapsForShuffle());
    }

    File indexFile(int shuffleId, long mapId) {
        return getIndexFile(shuffleId, mapId, Option.empty());
    }

    ReaderOptions options() {
        return OpenOutputs.OPTIONS;
    }

    @Override
    public ManagedBuffer getBlockData(BlockId id, Option<String[]> folders) {
        if (id instanceof ShuffleBlockId block) {
            return blocks(id, block.shuffleId(), block.mapId(), block.reduceId(), block.reduceId() + 1, folders);
        } else if (id instanceof ShuffleBlockBatchId batch) {
            return blocks(id, batch.shuffleId(), batch.mapId(), batch.startReduceId(), batch.endReduceId(), folders);
        }
        return super.getBlockData(id, folders);
    }

    private ManagedBuffer blocks(
            BlockId id, int shuffleId, long mapId, int from, int to, Option<String[]> folders) {
        File index = getIndexFile(shuffleId, mapId, folders);
        if (!outputs.isFaro(index)) {
            return super.getBlockData(id, folders);
        }
        return FragmentBuffer.of(outputs, getDataFile(shuffleId, mapId, folders), index, from, to);
    }

    @Override
    public MergedBlockMeta getMergedBlockMeta(ShuffleMergedBlockId id, Option<String[]> folders) {
        Path name = mergedName(id, folders);
        if (name == null) {
            return stockMeta(id, folders);
        }
        try (OpenOutputs.Lease merged = open(name)) {
            return partition(id).meta(merged.reader());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What Spark's service has merged. Spark waits forever for a chunk that its index says is shorter than nothing. */
    private MergedBlockMeta stockMeta(ShuffleMergedBlockId id, Option<String[]> folders) {
        MergedBlockMeta meta = super.getMergedBlockMeta(id, folders);
        try {
            MergedMetaClient.check(meta);
            Iterator<ManagedBuffer> chunks = stockData(id, folders).iterator();
            while (chunks.hasNext()) {
                if (chunks.next() instanceof FileSegmentManagedBuffer chunk && !isInside(chunk)) {
                    throw new IOException(chunk + " is not a part of the file");
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the index of " + id, e);
        }
        return meta;
    }

    private static boolean isInside(FileSegmentManagedBuffer chunk) {
        long size = chunk.getFile().length();
        return chunk.getOffset() >= 0 && chunk.getOffset() <= size
                && chunk.getLength() > 0 && chunk.getLength() <= size - chunk.getOffset();
    }

    private Seq<ManagedBuffer> stockData(ShuffleMergedBlockId id, Option<String[]> folders) {
        return super.getMergedBlockData(id, folders);
    }

    /** A list is what every line of Spark takes, whatever its version of Scala means by a sequence. */
    @Override
    public List<ManagedBuffer> getMergedBlockData(ShuffleMergedBlockId id, Option<String[]> folders) {
        Path name = mergedName(id, folders);
        if (name == null) {
            return stockData(id, folders).toList();
        }
        ListBuffer<ManagedBuffer> chunks = new ListBuffer<>();
        for (ManagedBuffer chunk : FragmentBuffer.chunks(
                outputs, MergedPartition.data(name), MergedPartition.index(name), partition(id))) {
            chunks.$plus$eq(chunk);
        }
        return chunks.toList();
    }

    /** The name of Faro's merged file; null if the service has merged without Faro. */
    private Path mergedName(ShuffleMergedBlockId id, Option<String[]> folders) {
        SparkEnv env = SparkEnv.get();
        String[] where = folders.isDefined() ? folders.get() : new String[0];
        if (where.length == 0) {
            return null;
        }
        Path name = partition(id).name(where, env.blockManager().subDirsPerLocalDir());
        return outputs.isFaro(MergedPartition.index(name)) ? name : null;
    }

    private static MergedPartition partition(ShuffleMergedBlockId id) {
        return new MergedPartition(
                SparkEnv.get().conf().getAppId(), id.shuffleId(), id.shuffleMergeId(), id.reduceId());
    }

    private OpenOutputs.Lease open(Path name) throws IOException {
        return outputs.open(MergedPartition.data(name), MergedPartition.index(name));
    }

    @Override
    public void removeDataByMap(int shuffleId, long mapId) {
        outputs.close(indexFile(shuffleId, mapId));
        super.removeDataByMap(shuffleId, mapId);
    }

    @Override
    public void stop() {
        super.stop();
        outputs.close();
    }
}
