package dev.faro.flink;

import dev.faro.Framing;
import dev.faro.codec.Codec;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How the output of a partition is written.
 *
 * @param name path without extension
 * @param blockSize the size of a network buffer: a block becomes one buffer
 * @param sortBufferSize bytes that are sorted at once
 * @param producer index of the subtask
 * @param attempt of the subtask
 * @param properties what the footer tells about the origin
 */
record OutputSettings(Path name, Codec codec, int blockSize, long sortBufferSize, int producer, int attempt,
        Map<String, String> properties) {
    private static final String CREATED_BY = "faro-flink";

    /** Begins the files. */
    Writer create(int subpartitions, long mostBuffered) throws IOException {
        Writer writer = Writer.create(name, new WriterOptions(subpartitions)
                // Flink's records, each with its length before it, cut into buffers anywhere.
                .framing(Framing.OPAQUE)
                .blockSize(blockSize)
                .bufferSize(Math.max(1, Math.min(sortBufferSize, mostBuffered)))
                .codec(codec)
                .producer(producer)
                .attempt(attempt)
                // Files are read from front to back: consumers that read many of them must not all begin with the same.
                .rotation(ThreadLocalRandom.current().nextInt(subpartitions))
                .createdBy(CREATED_BY));
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

    Path data() {
        return named(".data");
    }

    Path index() {
        return named(".index");
    }

    private Path named(String extension) {
        return name.resolveSibling(name.getFileName() + extension);
    }
}
