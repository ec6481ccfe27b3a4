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
    private final boolean compressed;

    /** @param compressed whether the payloads of a block are a stream that Spark has compressed, if its settings say so */
    FragmentStreams(SparkEnv env, boolean compressed) {
        super(env.serializer(), env.conf());
        this.application = env.conf().getAppId();
        this.compressed = compressed;
    }

    @Override
    public InputStream wrapStream(BlockId id, InputStream stream) {
        InputStream payloads = payloads(id, stream);
        return compressed ? super.wrapStream(id, payloads) : payloads;
    }

    private InputStream payloads(BlockId id, InputStream stream) {
        if (id instanceof ShuffleBlockId block) {
            return new FragmentPayloads(stream, application, block.shuffleId(), block.mapId(), block.reduceId(), 1);
        } else if (id instanceof ShuffleBlockBatchId batch) {
            return new FragmentPayloads(stream, application, batch.shuffleId(), batch.mapId(), batch.startReduceId(),
                    batch.endReduceId() - batch.startReduceId());
        }
        throw new IllegalArgumentException("no block of a Faro output: " + id);
    }
}
