package dev.faro.spark;

import dev.faro.Framing;
import dev.faro.merge.FileIds;
import dev.faro.reader.Reader;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterFigures;
import dev.faro.writer.WriterOptions;
import java.io.Closeable;
import java.io.Flushable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/** The Faro output of a map task, under the names that Spark knows, or in the form that Spark's service can serve. */
final class MapOutput implements Closeable, Flushable {
    /** More than that is given to the writer in parts, so that none is larger than a block may be. */
    private static final int MOST_AT_ONCE = 1 << 20;
    /** An output of up to this many bytes of records stays in memory until the service's form is made of it. */
    private static final long MOST_IN_MEMORY = 1 << 20;

    private final FaroBlockResolver resolver;
    private final int partitions;
    /** Null without partitions: Spark reads nothing of the output, but wants one. */
    private final Writer writer;
    /** With the external shuffle service; else null. */
    private final ServedOutput served;
    /** The array of the last record, as the writer takes it. */
    private ByteBuffer record = ByteBuffer.allocate(0);
    private long writeNanos;

    /**
     * Creates the files.
     *
     * @param options of the writer, without what is the same for all map tasks
     * @param properties more that the footer says
     */
    MapOutput(FaroBlockResolver resolver, boolean service, int shuffleId, long mapId, TaskContext context,
            int partitions, WriterOptions options, Map<String, String> properties) throws IOException {
        this.resolver = resolver;
        this.partitions = partitions;
        if (partitions == 0) {
            this.served = null;
            this.writer = null;
            return;
        }
        // Spark does not end its writer if the task fails with an Error, such as its own for memory that is not there.
        context.addTaskCompletionListener((TaskCompletionListener) ended -> close());
        this.served = service ? new ServedOutput(resolver, shuffleId, mapId) : null;
        String application = SparkEnv.get().conf().getAppId();
        long producer = context.partitionId();
        options.framing(Framing.OPAQUE).producer(producer).attempt(mapId)
                .fileId(FileIds.output(application, String.valueOf(shuffleId), producer, mapId)).statistics(false)
                .createdBy("faro-spark");
        this.writer = service ? Writer.createIn(served.sorted(), options.singleBelow(MOST_IN_MEMORY))
                : Writer.createPair(resolver.getDataFile(shuffleId, mapId).toPath(),
                        resolver.indexFile(shuffleId, mapId).toPath(), options.overwrite(true));
        Map<String, String> all = new TreeMap<>(properties);
        all.putAll(Map.of("faro.spark.application", application, "faro.spark.shuffle", String.valueOf(shuffleId),
                "faro.spark.map", String.valueOf(producer), "faro.spark.task", String.valueOf(mapId)));
        for (Map.Entry<String, String> property : all.entrySet()) {
            writer.property(property.getKey(), property.getValue());
        }
    }

    /** Adds bytes to a partition. */
    void write(int partition, byte[] bytes, int from, int length) throws IOException {
        // A serializer uses one array for many records, and a buffer for each would be much garbage.
        if (record.array() != bytes) {
            record = ByteBuffer.wrap(bytes);
        }
        for (int at = 0; at < length; at += MOST_AT_ONCE) {
            writer.write(partition, record.limit(from + at + Math.min(MOST_AT_ONCE, length - at)).position(from + at));
        }
    }

    /** Writes what is in memory as a region. */
    @Override
    public void flush() throws IOException {
        writer.flush();
    }

    /** Ends the output. Returns how many bytes a reduce task fetches of each partition. */
    long[] commit() throws IOException {
        long[] sizes = new long[partitions];
        if (writer == null) {
            return sizes;
        }
        WriterFigures figures;
        try (Reader reader = writer.finishAndOpen(resolver.options()).reader()) {
            figures = writer.figures();
            for (int partition = 0; partition < partitions; partition++) {
                sizes[partition] = FragmentBuffer.size(reader, partition, partition + 1);
            }
            writeNanos = figures.writeNanos();
            if (served != null) {
                long begin = System.nanoTime();
                served.commit(reader, sizes);
                writeNanos += System.nanoTime() - begin;
            }
        }
        return sizes;
    }

    /** How long the writing of files took, in nanoseconds; known after the commit. */
    long writeNanos() {
        return writeNanos;
    }

    /** Removes what was not committed. */
    @Override
    public void close() {
        try {
            if (writer != null) {
                writer.close();
            }
        } finally {
            if (served != null) {
                served.close();
            }
        }
    }
}
