package dev.faro.spark;

import dev.faro.reader.ReaderOptions;
import java.io.File;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;
import scala.Option;

/**
 * Serves blocks of Faro outputs, which have the names of Spark's files, as fragments. The outputs of Spark's own
 * writers are served as Spark does.
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
