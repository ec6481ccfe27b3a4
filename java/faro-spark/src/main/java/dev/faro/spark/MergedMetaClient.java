package dev.faro.spark;

import java.io.IOException;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.MergedBlockMeta;
import org.apache.spark.network.shuffle.MergedBlocksMetaListener;
import org.apache.spark.network.shuffle.checksum.Cause;
import org.roaringbitmap.RoaringBitmap;

/**
 * Fetches as Spark's client does, and checks what a service says of merged partitions: Spark's reader believes it, and
 * loses blocks, waits forever or fails if it is wrong. After a failure here it fetches the originals.
 */
final class MergedMetaClient extends BlockStoreClient {
    private final BlockStoreClient client;
    private final Deliveries deliveries;

    MergedMetaClient(BlockStoreClient client, Deliveries deliveries) {
        this.client = client;
        this.deliveries = deliveries;
    }

    /** Checks that there are as many sets of map tasks as chunks, and not none. Returns the sets. */
    static RoaringBitmap[] check(MergedBlockMeta meta) throws IOException {
        RoaringBitmap[] maps;
        try {
            maps = meta.readChunkBitmaps();
        } catch (RuntimeException e) {
            throw new IOException("the map tasks of the chunks are damaged", e);
        }
        if (maps.length == 0 || maps.length != meta.getNumChunks()) {
            throw new IOException(meta.getNumChunks() + " chunks, and " + maps.length + " sets of map tasks");
        }
        return maps;
    }

    @Override
    public void getMergedBlockMeta(String host, int port, int shuffleId, int shuffleMergeId, int reduceId,
            MergedBlocksMetaListener listener) {
        client.getMergedBlockMeta(host, port, shuffleId, shuffleMergeId, reduceId, new MergedBlocksMetaListener() {
            @Override
            public void onSuccess(int shuffle, int merge, int reduce, MergedBlockMeta meta) {
                try {
                    for (RoaringBitmap maps : check(meta)) {
                        if (!deliveries.expects(maps, reduce)) {
                            throw new IOException("a chunk of map tasks that have nothing for partition " + reduce);
                        }
                    }
                } catch (Throwable e) {
                    // Damaged sets may throw anything, and the reduce task waits for an answer.
                    onFailure(shuffle, merge, reduce, e);
                    return;
                }
                listener.onSuccess(shuffle, merge, reduce, meta);
            }

            @Override
            public void onFailure(int shuffle, int merge, int reduce, Throwable failure) {
                listener.onFailure(shuffle, merge, reduce, failure);
            }
        });
    }

    @Override
    public void fetchBlocks(String host, int port, String executor, String[] blocks, BlockFetchingListener listener,
            DownloadFileManager files) {
        client.fetchBlocks(host, port, executor, blocks, listener, files);
    }

    @Override
    public Cause diagnoseCorruption(String host, int port, String executor, int shuffleId, long mapId, int reduceId,
            long checksum, String algorithm) {
        return client.diagnoseCorruption(host, port, executor, shuffleId, mapId, reduceId, checksum, algorithm);
    }

    /** Spark's client is not closed: others use it. */
    @Override
    public void close() {}
}
