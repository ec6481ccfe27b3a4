package dev.faro.spark;

import dev.faro.Framing;
import dev.faro.codec.Codec;
import dev.faro.merge.FileIds;
import dev.faro.reader.Reader;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterFigures;
import dev.faro.writer.WriterOptions;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
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
    /** A larger record is given to the writer in parts, so that none is larger than a block may be. */
    private static final int MOST_AT_ONCE = 1 << 20;

    /** The bytes of a serialized record, without a copy. */
    private static final class RecordBytes extends ByteArrayOutputStream {
        RecordBytes() {
            super(1 << 12);
        }

        ByteBuffer part(int at, int length) {
            return ByteBuffer.wrap(buf, at, length);
        }
    }

    private final ShuffleDependency<K, V, ?> dependency;
    private final int shuffleId;
    private final long mapId;
    private final TaskContext context;
    private final ShuffleWriteMetricsReporter metrics;
    private final FaroBlockResolver resolver;
    private final Settings settings;
    private final TaskMemory memory;
    private final RowChecksums checksums;
    private final int partitions;
    private Writer writer;
    /** With the external shuffle service; else null. */
    private ServedOutput served;
    private long[] lengths;
    private boolean stopping;

    FaroShuffleWriter(FaroShuffleHandle<K, V, ?> handle, long mapId, TaskContext context,
            ShuffleWriteMetricsReporter metrics, FaroBlockResolver resolver, Settings settings) {
        this.dependency = handle.dependency();
        this.shuffleId = handle.shuffleId();
        this.mapId = mapId;
        this.context = context;
        this.metrics = metrics;
        this.resolver = resolver;
        this.settings = settings;
        this.memory = new TaskMemory(context.taskMemoryManager());
        this.checksums = Versions.rowChecksums(dependency);
        this.partitions = dependency.partitioner().numPartitions();
    }

    @Override
    public void write(Iterator<Product2<K, V>> records) throws IOException {
        if (partitions == 0) {
            // Spark reads nothing of it, but wants an output.
            lengths = new long[0];
            return;
        }
        String application = SparkEnv.get().conf().getAppId();
        long producer = context.partitionId();
        WriterOptions options = new WriterOptions(partitions).framing(Framing.OPAQUE).codec(settings.codec())
                .bufferSize(settings.bufferSize()).memoryBudget(memory).producer(producer).attempt(mapId)
                .fileId(FileIds.output(application, String.valueOf(shuffleId), producer, mapId)).statistics(false)
                .createdBy("faro-spark").overwrite(true);
        if (settings.codec() == Codec.ZSTD) {
            options.level(settings.level());
        }
        File data = resolver.getDataFile(shuffleId, mapId);
        File index = resolver.indexFile(shuffleId, mapId);
        if (settings.served()) {
            served = new ServedOutput(resolver, shuffleId, mapId);
            data = served.data();
            index = served.index();
        }
        writer = Writer.createPair(data.toPath(), index.toPath(), options);
        memory.setWriter(writer);
        writer.property("faro.spark.application", application);
        writer.property("faro.spark.shuffle", String.valueOf(shuffleId));
        writer.property("faro.spark.map", String.valueOf(producer));
        writer.property("faro.spark.task", String.valueOf(mapId));
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
            put(partition, bytes);
            count++;
        }
        metrics.incRecordsWritten(count);
    }

    private void put(int partition, RecordBytes bytes) throws IOException {
        memory.setBusy(true);
        try {
            int size = bytes.size();
            for (int at = 0; at < size; at += MOST_AT_ONCE) {
                writer.write(partition, bytes.part(at, Math.min(MOST_AT_ONCE, size - at)));
            }
        } finally {
            memory.setBusy(false);
        }
    }

    private void finish() throws IOException {
        memory.setBusy(true);
        memory.setWriter(null);
        long[] sizes = new long[partitions];
        WriterFigures figures;
        try (Reader reader = writer.finishAndOpen(resolver.options()).reader()) {
            figures = writer.figures();
            for (int partition = 0; partition < partitions; partition++) {
                sizes[partition] = FragmentBuffer.size(reader, partition, partition + 1);
            }
            if (served != null) {
                served.commit(reader, sizes);
            }
        }
        lengths = sizes;
        // As Spark's writers count: what reduce tasks fetch.
        metrics.incBytesWritten(Arrays.stream(sizes).sum());
        metrics.incWriteTime(figures.writeNanos());
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
        if (writer != null) {
            memory.setWriter(null);
            // After finish it does nothing.
            writer.close();
        }
        if (served != null) {
            served.close();
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
