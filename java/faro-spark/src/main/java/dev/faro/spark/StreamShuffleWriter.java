package dev.faro.spark;

import dev.faro.codec.Codec;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.api.ShuffleExecutorComponents;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.ShufflePartitionWriter;
import org.apache.spark.shuffle.api.metadata.MapOutputCommitMessage;
import org.apache.spark.shuffle.sort.SortShuffleWriter;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;

/**
 * Writes the output of a map task whose serializer does not relocate records, as Java's: the records of a partition have
 * to be one stream. Spark's sorter makes the streams, with its files of spills and its compression, and the output
 * stores them.
 */
final class StreamShuffleWriter<K, V> extends ShuffleWriter<K, V> {
    /** Streams come in the order of the partitions, so that memory would not make regions better. */
    private static final int BUFFER = 1 << 20;

    private final ShuffleWriter<K, V> sorter;
    private final Components components;

    StreamShuffleWriter(FaroShuffleHandle<K, V, ?> handle, long mapId, TaskContext context,
            ShuffleWriteMetricsReporter metrics, FaroBlockResolver resolver, Settings settings) {
        ShuffleDependency<K, V, ?> dependency = handle.dependency();
        this.components = new Components(dependency.shuffleId(), mapId, context, resolver, settings);
        this.sorter = new SortShuffleWriter<>(handle, mapId, context, metrics, components);
    }

    @Override
    public void write(Iterator<Product2<K, V>> records) throws IOException {
        sorter.write(records);
    }

    @Override
    public Option<MapStatus> stop(boolean success) {
        try {
            return sorter.stop(success);
        } finally {
            components.close();
        }
    }

    @Override
    public long[] getPartitionLengths() {
        return sorter.getPartitionLengths();
    }

    /** Makes the output when Spark's sorter has all records. */
    private static final class Components implements ShuffleExecutorComponents {
        private final int shuffleId;
        private final long mapId;
        private final TaskContext context;
        private final FaroBlockResolver resolver;
        private final Settings settings;
        private MapOutput output;

        Components(int shuffleId, long mapId, TaskContext context, FaroBlockResolver resolver, Settings settings) {
            this.shuffleId = shuffleId;
            this.mapId = mapId;
            this.context = context;
            this.resolver = resolver;
            this.settings = settings;
        }

        @Override
        public void initializeExecutor(String application, String executor, Map<String, String> settings) {}

        @Override
        public ShuffleMapOutputWriter createMapOutputWriter(int shuffle, long map, int partitions) throws IOException {
            WriterOptions options = new WriterOptions(Math.max(partitions, 1)).codec(Codec.NONE)
                    .bufferSize(Math.min(settings.bufferSize(), BUFFER));
            output = new MapOutput(resolver, settings.served(), shuffleId, mapId, context, partitions, options,
                    Map.of("faro.spark.compression", settings.compression()));
            return new Streams(output);
        }

        void close() {
            if (output != null) {
                output.close();
            }
        }
    }

    /** What Spark's sorter writes to. */
    private record Streams(MapOutput output) implements ShuffleMapOutputWriter {
        @Override
        public ShufflePartitionWriter getPartitionWriter(int partition) {
            return new PartitionStream(output, partition);
        }

        @Override
        public MapOutputCommitMessage commitAllPartitions(long[] checksums) throws IOException {
            return MapOutputCommitMessage.of(output.commit());
        }

        @Override
        public void abort(Throwable error) {
            output.close();
        }
    }

    /** The stream of one partition. */
    private static final class PartitionStream extends OutputStream implements ShufflePartitionWriter {
        private final MapOutput output;
        private final int partition;
        private long written;

        PartitionStream(MapOutput output, int partition) {
            this.output = output;
            this.partition = partition;
        }

        @Override
        public OutputStream openStream() {
            return this;
        }

        @Override
        public long getNumBytesWritten() {
            return written;
        }

        @Override
        public void write(int one) throws IOException {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            output.write(partition, bytes, from, length);
            written += length;
        }
    }
}
