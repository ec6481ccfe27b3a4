package dev.faro.spark;

import dev.faro.FileHeader;
import dev.faro.Limits;
import dev.faro.merge.FileIds;
import dev.faro.merge.FragmentReader;
import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockChunkId;
import org.apache.spark.storage.ShuffleBlockId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes records' bytes of what a reduce task fetches when its shuffle was merged. A chunk is a row of fragments. It is
 * checked as a whole before any byte of it is delivered. Nothing of a damaged one is: its blocks stay missing. Of a good
 * chunk the blocks are delivered that are expected and have not come in another way.
 */
final class MergedStreams {
    private static final Logger LOG = LoggerFactory.getLogger(MergedStreams.class);
    /** The largest chunk that is held in memory. The service makes them of 2 MB; a larger one is not used. */
    private static final int LARGEST_CHUNK = 64 << 20;

    private final FragmentStreams originals;
    private final String application;
    private final Deliveries deliveries;
    private final ShuffleReadMetricsReporter metrics;

    MergedStreams(FragmentStreams originals, String application, Deliveries deliveries,
            ShuffleReadMetricsReporter metrics) {
        this.originals = originals;
        this.application = application;
        this.deliveries = deliveries;
        this.metrics = metrics;
    }

    InputStream wrap(BlockId id, InputStream stream) throws IOException {
        if (id instanceof ShuffleBlockChunkId chunk) {
            return wrapChunk(chunk, stream);
        }
        ShuffleBlockId block = (ShuffleBlockId) id;
        if (!deliveries.counts(block.mapId())) {
            throw new IOException(id + " is of an attempt that does not count any more");
        }
        int mapIndex = deliveries.mapIndex(block.mapId());
        if (!deliveries.isMissing(mapIndex, block.reduceId())) {
            stream.close();
            return InputStream.nullInputStream();
        }
        return new Original(originals.wrapStream(id, stream), mapIndex, block.reduceId());
    }

    /** Spark would fetch the originals that the service says are in the chunk, which may be wrong too. */
    private InputStream wrapChunk(ShuffleBlockChunkId id, InputStream stream) {
        try (stream) {
            byte[] bytes = stream.readNBytes(LARGEST_CHUNK + 1);
            if (bytes.length > LARGEST_CHUNK) {
                throw new IOException(id + " has more than " + LARGEST_CHUNK + " bytes");
            }
            return new Chunk(bytes, check(bytes, id));
        } catch (IOException e) {
            LOG.warn("{} is damaged: its blocks come from the map tasks.", id, e);
            metrics.incCorruptMergedBlockChunks(1);
            return InputStream.nullInputStream();
        }
    }

    /**
     * Checks the whole chunk. Returns which of its fragments are delivered: now that no fault can follow. A map task that
     * is in it twice is delivered once.
     */
    private BitSet check(byte[] bytes, ShuffleBlockChunkId id) throws IOException {
        List<FileHeader> headers = new ArrayList<>();
        try (FragmentReader fragments = new FragmentReader(new ByteArrayInputStream(bytes), Limits.DEFAULT)) {
            while (fragments.nextFragment()) {
                check(fragments, id);
                headers.add(fragments.header());
            }
        }
        if (headers.isEmpty()) {
            throw new IOException(id + " has no bytes");
        }
        BitSet wanted = new BitSet();
        for (int i = 0; i < headers.size(); i++) {
            FileHeader header = headers.get(i);
            if (deliveries.isMissing(header.attempt(), header.producer(), id.reduceId())) {
                deliveries.deliver((int) header.producer(), id.reduceId());
                wanted.set(i);
            }
        }
        return wanted;
    }

    private void check(FragmentReader fragments, ShuffleBlockChunkId id) throws IOException {
        FileHeader header = fragments.header();
        boolean own = header.fileId().equals(FileIds.output(
                application, String.valueOf(id.shuffleId()), header.producer(), header.attempt()));
        boolean first = true;
        boolean whole = header.firstPartition() == id.reduceId() && header.partitionCount() == 1;
        while (fragments.nextBlock()) {
            whole &= !first || fragments.number() == 0;
            first = false;
        }
        if (!own || !whole || !fragments.isLast()) {
            throw new IOException(id + " has a fragment of another shuffle or partition, or not all blocks of one");
        }
    }

    /** The payloads of those fragments of a chunk that are delivered. */
    private static final class Chunk extends PayloadStream {
        private final FragmentReader fragments;
        private final BitSet wanted;
        private int count = -1;

        Chunk(byte[] bytes, BitSet wanted) {
            this.fragments = new FragmentReader(new ByteArrayInputStream(bytes), Limits.DEFAULT);
            this.wanted = wanted;
        }

        @Override
        ByteBuffer nextPayload() throws IOException {
            while (true) {
                if (count >= 0 && fragments.nextBlock()) {
                    if (wanted.get(count)) {
                        return fragments.payload();
                    }
                } else if (fragments.nextFragment()) {
                    count++;
                } else {
                    return null;
                }
            }
        }

        @Override
        public void close() throws IOException {
            super.close();
            fragments.close();
        }
    }

    /** A block from its map task. It has come when it was read without a fault: Spark fetches a damaged one again. */
    private final class Original extends FilterInputStream {
        private final int mapIndex;
        private final int reduceId;
        private boolean failed;

        Original(InputStream block, int mapIndex, int reduceId) {
            super(block);
            this.mapIndex = mapIndex;
            this.reduceId = reduceId;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] into, int at, int length) throws IOException {
            try {
                int count = super.read(into, at, length);
                if (count < 0) {
                    deliveries.deliver(mapIndex, reduceId);
                }
                return count;
            } catch (IOException e) {
                failed = true;
                throw e;
            }
        }

        @Override
        public void close() throws IOException {
            if (!failed) {
                deliveries.deliver(mapIndex, reduceId);
            }
            super.close();
        }
    }
}
