package dev.faro.bench;

import dev.faro.codec.Codec;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.flink.configuration.NettyShuffleEnvironmentOptions.CompressionCodec;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.runtime.io.disk.BatchShuffleReadBufferPool;
import org.apache.flink.runtime.io.disk.FileChannelManagerImpl;
import org.apache.flink.runtime.io.network.api.StopMode;
import org.apache.flink.runtime.io.network.buffer.BufferCompressor;
import org.apache.flink.runtime.io.network.buffer.BufferDecompressor;
import org.apache.flink.runtime.io.network.buffer.NetworkBufferPool;
import org.apache.flink.runtime.io.network.partition.BoundedBlockingSubpartitionType;
import org.apache.flink.runtime.io.network.partition.ResultPartition;
import org.apache.flink.runtime.io.network.partition.ResultPartitionFactory;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionManager;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.io.network.partition.SortMergeResultPartition;

/**
 * Flink's own blocking shuffle, used as a task uses it, without a cluster: no checksums, no syncs, buffers of 32 KiB.
 * Not for several threads, although Flink reads in a thread of its own.
 */
public final class FlinkPeer implements Closeable {
    /** The size of a network buffer in bytes, Flink's default. */
    public static final int SEGMENT = 32 << 10;
    /** The memory for reads in bytes, Flink's default for a task manager. */
    private static final long READ_MEMORY = 64 << 20;

    /** Flink's two writers. */
    public enum Kind {
        /** One file and its index, sorted in memory: {@code SortMergeResultPartition}. */
        SORT,
        /** One file for each subpartition: {@code BoundedBlockingResultPartition}. */
        HASH
    }

    private final Kind kind;
    private final int segments;
    private final int subpartitions;
    private final CompressionCodec codec;
    private final NetworkBufferPool network;
    private final BatchShuffleReadBufferPool readPool;
    private final ScheduledExecutorService executor = Executors.newScheduledThreadPool(1, FlinkPeer::daemon);
    private final ResultPartitionManager manager = new ResultPartitionManager();
    /** Flink may remove the files of a partition after the next one was opened, so each has names of its own. */
    private int made;
    /** Memory for one reading at a time. */
    private final MemorySegment joined = MemorySegmentFactory.allocateUnpooledSegment(SEGMENT);

    /**
     * Makes a peer.
     *
     * @param bufferBytes the memory of the sort buffer; the hash writer uses a buffer for each subpartition instead
     */
    public FlinkPeer(Kind kind, int subpartitions, long bufferBytes, Codec codec) {
        this.kind = kind;
        this.subpartitions = subpartitions;
        this.segments = kind == Kind.SORT ? (int) (bufferBytes / SEGMENT) : subpartitions + 1;
        this.codec = switch (codec) {
            case NONE -> null;
            case LZ4 -> CompressionCodec.LZ4;
            case ZSTD -> CompressionCodec.ZSTD;
        };
        this.network = new NetworkBufferPool(segments, SEGMENT);
        this.readPool = new BatchShuffleReadBufferPool(READ_MEMORY, SEGMENT);
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "flink-batch-read");
        thread.setDaemon(true);
        return thread;
    }

    /** Opens a partition for records: allocates its memory and makes its files. */
    public ResultPartition open(Path folder) throws IOException {
        ResultPartition partition = kind == Kind.SORT ? sorted(folder.resolve("flink-" + made++)) : hashed(folder);
        partition.setup();
        return partition;
    }

    private ResultPartition sorted(Path base) {
        return new SortMergeResultPartition("benchmark", 0, new ResultPartitionID(), ResultPartitionType.BLOCKING,
                subpartitions, subpartitions, readPool, executor, manager, base.toString(), compressor(),
                () -> network.createBufferPool(segments, segments));
    }

    private ResultPartition hashed(Path folder) {
        ResultPartitionFactory factory = new ResultPartitionFactory(manager,
                new FileChannelManagerImpl(new String[] {folder.toString()}, "hash"), network, readPool, executor,
                // Without SSL, its reader returns only file regions, which only Netty can send.
                BoundedBlockingSubpartitionType.FILE, 1, 0, SEGMENT, SEGMENT, codec != null, codec, Integer.MAX_VALUE,
                segments, Integer.MAX_VALUE, true, 0, null);
        return factory.create("benchmark", 0, new ResultPartitionID(), ResultPartitionType.BLOCKING, 1, subpartitions,
                subpartitions, false, null,
                () -> network.createBufferPool(segments, segments, subpartitions, Integer.MAX_VALUE, 0), false);
    }

    private BufferCompressor compressor() {
        return codec == null ? null : new BufferCompressor(SEGMENT, codec);
    }

    /** The decompressor for the buffers of readers; null without a codec. */
    BufferDecompressor decompressor() {
        return codec == null ? null : new BufferDecompressor(SEGMENT, codec);
    }

    /** Writes the records of a case; returns after {@code finish}. */
    public void write(ResultPartition partition, WriteCase writeCase) throws IOException {
        Records source = writeCase.source();
        SplitMix numbers = WriteCase.partitionNumbers();
        ByteBuffer bytes = ByteBuffer.wrap(source.array());
        int next = 0;
        for (long i = 0; i < writeCase.records(); i++) {
            int start = source.start(next);
            bytes.limit(start + source.length(next)).position(start - 4);
            partition.emitRecord(bytes, writeCase.partition(numbers));
            next = next + 1 == source.count() ? 0 : next + 1;
        }
        partition.notifyEndOfData(StopMode.DRAIN);
        partition.finish();
    }

    /** Reads a finished partition, each subpartition as a whole, {@code atOnce} at a time; see {@link FlinkReading}. */
    public long read(ResultPartition partition, int atOnce, FlinkReading.Sink sink)
            throws IOException, InterruptedException {
        return new FlinkReading(partition, decompressor(), joined, sink).run(subpartitions, atOnce);
    }

    /** Releases the memory of the writer, when it is finished. */
    public void endOfTask(ResultPartition partition) {
        partition.close();
    }

    /** Lets Flink remove the files. All reads must have ended. */
    void release(ResultPartition partition) {
        manager.releasePartition(partition.getPartitionId(), null);
    }

    /** Removes the files, and what Flink leaves. All reads must have ended. */
    public void delete(ResultPartition partition, Path folder) throws IOException {
        release(partition);
        clear(folder);
    }

    private static void clear(Path folder) throws IOException {
        try (var left = Files.walk(folder)) {
            left.sorted((a, b) -> b.compareTo(a)).filter(path -> !path.equals(folder)).forEach(path -> {
                try {
                    Files.deleteIfExists(path);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    @Override
    public void close() {
        executor.shutdownNow();
        readPool.destroy();
        network.destroyAllBufferPools();
        network.destroy();
    }
}
