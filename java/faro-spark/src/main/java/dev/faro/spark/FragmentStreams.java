package dev.faro.spark;

import java.io.InputStream;
import org.apache.spark.SparkEnv;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;

/**
 * Makes records' bytes of fetched blocks: in Spark's reader this takes the place of decompression. An error in it is a
 * fetch failure to Spark, so that the map task runs again.
 */
final class FragmentStreams extends SerializerManager {
    private final String application;

    FragmentStreams(SparkEnv env) {
        super(env.serializer(), env.conf());
        this.application = env.conf().getAppId();
    }

    @Override
    public InputStream wrapStream(BlockId id, InputStream stream) {
        if (id instanceof ShuffleBlockId block) {
            return new FragmentPayloads(stream, application, block.shuffleId(), block.mapId(), block.reduceId(), 1);
        } else if (id instanceof ShuffleBlockBatchId batch) {
            return new FragmentPayloads(stream, application, batch.shuffleId(), batch.mapId(), batch.startReduceId(),
                    batch.endReduceId() - batch.startReduceId());
        }
        throw new IllegalArgumentException("no block of a Faro output: " + id);
    }
}
