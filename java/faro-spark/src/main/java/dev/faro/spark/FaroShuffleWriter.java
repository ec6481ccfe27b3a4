package dev.faro.spark;

import dev.faro.codec.Codec;
import dev.faro.writer.WriterOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import org.apache.spark.Partitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.serializer.SerializationStream;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Writes the output of a map task. Serialized records are collected in memory that Spark grants. When it is full, a
 * region is written into the final file, so there are no files of spills and no pass that merges them.
 */
final class FaroShuffleWriter<K, V> extends ShuffleWriter<K, V> {
    private static final ClassTag<Object> ANY = ClassTag$.MODULE$.Object();

    /** The bytes of a serialized record, without a copy. */
    private static final class RecordBytes extends ByteArrayOutputStream {
        RecordBytes() {
            super(1 << 12);
        }

        void writeTo(MapOutput output, int partition) throws IOException {
            output.write(partition, buf, 0, count);
        }
    }

    private final ShuffleDependency<K, V, ?> dependency;
    private final long mapId;
    private final TaskContext context;
    private final ShuffleWriteMetricsReporter metrics;
    private final FaroBlockResolver resolver;
    private final Settings settings;
    private final TaskMemory memory;
    private final RowChecksums checksums;
    private MapOutput output;
    private long[] lengths;
    private boolean stopping;

    FaroShuffleWriter(FaroShuffleHandle<K, V, ?> handle, long mapId, TaskContext context,
            ShuffleWriteMetricsReporter metrics, FaroBlockResolver resolver, Settings settings) {
        this.dependency = handle.dependency();
        this.mapId = mapId;
        this.context = context;
        this.metrics = metrics;
        this.resolver = resolver;
        this.settings = settings;
        this.memory = new TaskMemory(context.taskMemoryManager());
        this.checksums = Versions.rowChecksums(dependency);
    }

    @Override
    public void write(Iterator<Product2<K, V>> records) throws IOException {
        int partitions = dependency.partitioner().numPartitions();
        WriterOptions options = new WriterOptions(Math.max(partitions, 1)).codec(settings.codec())
                .bufferSize(settings.bufferSize()).memoryBudget(memory);
        if (settings.codec() == Codec.ZSTD) {
            options.level(settings.level());
        }
        output = new MapOutput(resolver, settings.served(), dependency.shuffleId(), mapId, context, partitions, options,
                Map.of());
        memory.setOutput(output);
        writeAll(combined(records));
        finish();
    }

    /** The records, combined by key if the dependency wants that on the map side. */
    @SuppressWarnings("unchecked")
    private Iterator<Product2<K, Object>> combined(Iterator<Product2<K, V>> records) {
        if (!dependency.mapSideCombine()) {
            return (Iterator<Product2<K, Object>>) (Iterator<?>) records;
        }
        return (Iterator<Product2<K, Object>>) (Iterator<?>)
                dependency.aggregator().get().combineValuesByKey(records, context);
    }

    private void writeAll(Iterator<Product2<K, Object>> records) throws IOException {
        Partitioner partitioner = dependency.partitioner();
        RecordBytes bytes = new RecordBytes();
        long count = 0;
        SerializationStream serializer = dependency.serializer().newInstance().serializeStream(bytes);
        while (records.hasNext()) {
            Product2<K, Object> record = records.next();
            K key = record._1();
            int partition = partitioner.getPartition(key);
            bytes.reset();
            serializer.writeKey(key, ANY);
            serializer.writeValue(record._2(), ANY);
            serializer.flush();
            checksums.update(partition, key, record._2());
            memory.setBusy(true);
            try {
                bytes.writeTo(output, partition);
            } finally {
                memory.setBusy(false);
            }
            count++;
        }
        metrics.incRecordsWritten(count);
    }

    private void finish() throws IOException {
        memory.setBusy(true);
        memory.setOutput(null);
        lengths = output.commit();
        // As Spark's writers count: what reduce tasks fetch.
        metrics.incBytesWritten(Arrays.stream(lengths).sum());
        metrics.incWriteTime(output.writeNanos());
        TaskMetrics task = context.taskMetrics();
        task.incPeakExecutionMemory(memory.peak());
        task.incMemoryBytesSpilled(memory.spilled());
    }

    @Override
    public Option<MapStatus> stop(boolean success) {
        if (stopping) {
            return Option.empty();
        }
        stopping = true;
        if (output != null) {
            memory.setOutput(null);
            output.close();
        }
        if (!success || lengths == null) {
            return Option.empty();
        }
        return Option.apply(Versions.mapStatus(
                SparkEnv.get().blockManager().shuffleServerId(), lengths, mapId, checksums.value()));
    }

    @Override
    public long[] getPartitionLengths() {
        return lengths;
    }
}
