package dev.faro.flink;

import dev.faro.codec.Codec;
import dev.faro.hybrid.HybridMemory;
import dev.faro.hybrid.HybridMode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import org.apache.flink.runtime.io.disk.BatchShuffleReadBufferPool;
import org.apache.flink.runtime.io.network.api.StopMode;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.NetworkBufferPool;
import org.apache.flink.runtime.io.network.partition.ResultPartition;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionManager;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.io.network.partition.ResultSubpartition.BufferAndBacklog;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionIndexSet;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionView;
import org.apache.flink.runtime.io.network.partition.SortMergeResultPartition;
import org.apache.flink.runtime.metrics.groups.TaskIOMetricGroup;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;

/** Partitions with one record for each subpartition: each is made, written, read and released, without a cluster. */
final class TinyOutputs implements AutoCloseable {
    /** The size of a record in bytes, with what Flink's serializer puts before it. */
    static final int RECORD = 100;
    private static final int SEGMENT = 32 << 10;
    private static final long MEMORY = 64 << 20;
    private static final int SORT_SEGMENTS = 64;

    /** What a partition costs, in nanoseconds, and what it leaves on the disk when it is finished. */
    record Cost(long create, long write, long read, long release, long files, long bytes) {}

    /** The subjects. */
    enum Kind {
        FARO("faro"),
        FARO_SELECTIVE("faro-selective"),
        FARO_FULL("faro-full"),
        FLINK_SORT("flink-sort"),
        /** The least that a file costs: written with one call, read with one, and removed. */
        PLAIN_FILE("plain-file");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    private final Path folder;
    private final Disk disk;
    private final int subpartitions;
    private final NetworkBufferPool network = new NetworkBufferPool(1024, SEGMENT);
    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(2);
    private final BatchShuffleReadBufferPool flinkReads = new BatchShuffleReadBufferPool(MEMORY, SEGMENT);
    private final ResultPartitionManager manager = new ResultPartitionManager();
    private final HybridMemory hybrid;
    private final OutputReads reads = new OutputReads(executor, new ReadMemory(MEMORY), new Decoders(), false,
            new OpenOutputs(FaroOptions.OPEN_OUTPUTS.defaultValue()));
    private final ByteBuffer record = ByteBuffer.allocate(RECORD).putInt(0, RECORD - Integer.BYTES);
    /** One for all outputs, because making it takes longer than some subjects. */
    private final TaskIOMetricGroup metrics =
            UnregisteredMetricGroups.createUnregisteredTaskMetricGroup().getIOMetricGroup();
    private int made;

    TinyOutputs(Path folder, int subpartitions) {
        this(folder, subpartitions, MEMORY);
    }

    /**
     * Begins without a partition.
     *
     * @param hybridMemory the memory of hybrid partitions in bytes
     */
    TinyOutputs(Path folder, int subpartitions, long hybridMemory) {
        this.folder = folder;
        this.disk = new Disk(folder, Runnable::run, System::nanoTime);
        this.subpartitions = subpartitions;
        this.hybrid = new HybridMemory(hybridMemory);
    }

    /** Makes, reads and releases one partition. */
    Cost one(Kind kind, boolean looksAtFiles) throws IOException, InterruptedException {
        if (kind == Kind.PLAIN_FILE) {
            return plainFile();
        }
        long begin = System.nanoTime();
        String name = "p" + made++;
        ResultPartition partition = partition(kind, folder.resolve(name));
        partition.setMetricGroup(metrics);
        partition.setup();
        long created = System.nanoTime();
        for (int i = 0; i < subpartitions; i++) {
            partition.emitRecord(record.clear().put(RECORD - 1, (byte) i), i);
        }
        partition.notifyEndOfData(StopMode.DRAIN);
        partition.finish();
        partition.close();
        long written = System.nanoTime();
        long[] left = looksAtFiles ? left(name) : new long[2];
        long beforeReading = System.nanoTime();
        for (int i = 0; i < subpartitions; i++) {
            read(partition, i);
        }
        long read = System.nanoTime();
        manager.releasePartition(partition.getPartitionId(), null);
        long released = System.nanoTime();
        return new Cost(created - begin, written - created, read - beforeReading, released - read, left[0], left[1]);
    }

    private ResultPartition partition(Kind kind, Path name) {
        ResultPartitionID id = new ResultPartitionID();
        // Without properties, whose size is that of the names of a job.
        OutputSettings settings = new OutputSettings(disk, name, Codec.NONE, SEGMENT, 16 << 20, 0, 0, Map.of());
        return switch (kind) {
            case FARO -> new FaroResultPartition("task", 0, id, ResultPartitionType.BLOCKING, subpartitions,
                    subpartitions, manager, () -> network.createBufferPool(SORT_SEGMENTS, SORT_SEGMENTS), settings, reads);
            case FARO_SELECTIVE, FARO_FULL -> new FaroHybridPartition("task", 0, id,
                    kind == Kind.FARO_FULL ? ResultPartitionType.HYBRID_FULL : ResultPartitionType.HYBRID_SELECTIVE,
                    subpartitions, subpartitions, manager, () -> network.createBufferPool(1, 1),
                    settings.withSortBufferSize(MEMORY / 8), hybrid,
                    kind == Kind.FARO_FULL ? HybridMode.FULL : HybridMode.SELECTIVE, reads);
            case FLINK_SORT -> new SortMergeResultPartition("task", 0, id, ResultPartitionType.BLOCKING, subpartitions,
                    subpartitions, flinkReads, executor, manager, name.toString(), null,
                    () -> network.createBufferPool(SORT_SEGMENTS, SORT_SEGMENTS));
            case PLAIN_FILE -> throw new IllegalArgumentException("a plain file is not a partition");
        };
    }

    private static void read(ResultPartition partition, int subpartition) throws IOException, InterruptedException {
        Semaphore available = new Semaphore(0);
        ResultSubpartitionView view = partition.createSubpartitionView(
                new ResultSubpartitionIndexSet(subpartition), which -> available.release());
        int bytes = 0;
        while (true) {
            BufferAndBacklog next = view.getNextBuffer();
            if (next == null) {
                if (view.isReleased()) {
                    throw new IOException("reading failed", view.getFailureCause());
                }
                available.acquire();
                available.drainPermits();
                continue;
            }
            Buffer buffer = next.buffer();
            bytes += buffer.isBuffer() ? buffer.readableBytes() : 0;
            boolean last = buffer.getDataType() == Buffer.DataType.END_OF_PARTITION;
            buffer.recycleBuffer();
            if (last) {
                break;
            }
        }
        view.releaseAllResources();
        if (bytes != RECORD) {
            throw new IOException("expected " + RECORD + " bytes, found " + bytes);
        }
    }

    /** The number of tasks that the threads for reads and spills were given. */
    long tasks() {
        return executor.getTaskCount();
    }

    /** The number of files of a partition, and their bytes. */
    private long[] left(String name) throws IOException {
        long[] left = new long[2];
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, name + ".*")) {
            for (Path file : files) {
                left[0]++;
                left[1] += Files.size(file);
            }
        }
        return left;
    }

    private Cost plainFile() throws IOException {
        Path file = folder.resolve("plain");
        int size = subpartitions * RECORD;
        long begin = System.nanoTime();
        long created;
        long written;
        long read;
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.READ)) {
            created = System.nanoTime();
            channel.write(ByteBuffer.allocateDirect(size), 0);
            written = System.nanoTime();
            channel.read(ByteBuffer.allocateDirect(size), 0);
            read = System.nanoTime();
        }
        Files.delete(file);
        return new Cost(created - begin, written - created, read - written, System.nanoTime() - read, 1, size);
    }

    @Override
    public void close() {
        reads.close();
        executor.shutdownNow();
        network.destroyAllBufferPools();
        network.destroy();
    }
}
