package dev.faro.flink;

import dev.faro.Buffers;
import dev.faro.Framing;
import dev.faro.codec.Codec;
import dev.faro.hybrid.HybridOptions;
import dev.faro.hybrid.HybridStore;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How the output of a partition is written.
 *
 * @param disk where the files are
 * @param name the path without extension
 * @param blockSize the size of a network buffer, because a block becomes one buffer
 * @param sortBufferSize the number of bytes that are sorted at once
 * @param producer the index of the subtask
 * @param attempt the attempt of the subtask
 * @param properties the origin of the output, for the footer
 */
record OutputSettings(Disk disk, Path name, Codec codec, int blockSize, long sortBufferSize, int producer,
        int attempt, Map<String, String> properties) {
    private static final String CREATED_BY = "faro-flink";
    /** The most that a writer takes for a single file; a region comes before, except with a larger sort buffer. */
    private static final long MOST_SINGLE = 1L << 33;

    /**
     * Begins an output. Its files are made when its layout is known: a pair with the first region, or a single file
     * when it is finished.
     *
     * @param maxBuffered the number of bytes that may be sorted at once
     * @param memory where records wait; null for the heap
     */
    Writer create(PartitionFiles files, int subpartitions, long maxBuffered, Buffers memory) throws IOException {
        Writer writer = Writer.createIn(
                files, options(subpartitions, maxBuffered).buffers(memory).singleBelow(MOST_SINGLE));
        try {
            for (Map.Entry<String, String> property : properties.entrySet()) {
                writer.property(property.getKey(), property.getValue());
            }
            return writer;
        } catch (IOException | RuntimeException e) {
            writer.abort();
            throw e;
        }
    }

    /** Begins a store, which has no files yet. Its sort buffer is on the heap. */
    HybridStore createHybrid(int subpartitions, HybridOptions hybrid) throws IOException {
        HybridStore store = HybridStore.create(name, options(subpartitions, sortBufferSize), hybrid);
        try {
            for (Map.Entry<String, String> property : properties.entrySet()) {
                store.property(property.getKey(), property.getValue());
            }
            return store;
        } catch (IOException | RuntimeException e) {
            store.release();
            throw e;
        }
    }

    private WriterOptions options(int subpartitions, long maxBuffered) {
        return new WriterOptions(subpartitions)
                // Flink's records, each preceded by its length, are cut into buffers anywhere.
                .framing(Framing.OPAQUE)
                .blockSize(blockSize)
                .bufferSize(Math.max(1, Math.min(sortBufferSize, maxBuffered)))
                .codec(codec)
                .producer(producer)
                .attempt(attempt)
                // Files are read from front to back. If consumers read many of them, not all should begin with the same
                // partition.
                .rotation(ThreadLocalRandom.current().nextInt(subpartitions))
                .createdBy(CREATED_BY);
    }

    /** The same, with another size of the sort buffer. */
    OutputSettings withSortBufferSize(long size) {
        return new OutputSettings(disk, name, codec, blockSize, size, producer, attempt, properties);
    }
}
