package dev.faro.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.FaroException;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/** Faro's writer, with its defaults except for the options of the case. */
public final class FaroWrite implements WriteSubject {
    private final WriteCase writeCase;
    private final Path name;
    private long taken;

    /** Writes {@code faro.data} and {@code faro.index} into a folder. */
    public FaroWrite(WriteCase writeCase, Path folder) {
        this.writeCase = writeCase;
        this.name = folder.resolve("faro");
    }

    @Override
    public String name() {
        return "faro";
    }

    @Override
    public long plainBytes() {
        return writeCase.plainBytes();
    }

    /** The options of a case. */
    static WriterOptions options(WriteCase writeCase) {
        return new WriterOptions(writeCase.partitions())
                .bufferSize((long) writeCase.bufferMib() << 20)
                .codec(writeCase.codec());
    }

    @Override
    public Outcome write() throws FaroException, IOException {
        long before = Memory.taken();
        try (Writer writer = Writer.create(name, options(writeCase))) {
            long begin = System.nanoTime();
            records(writeCase, writer);
            writer.finish();
            long nanos = System.nanoTime() - begin;
            taken = Memory.taken() - before;
            return new Outcome(nanos, Files.size(path(".data")), Files.size(path(".index")), 2);
        }
    }

    /** All memory that the last writer allocated, released meanwhile or not: its peak was not above that. */
    @Override
    public ObjectNode figures() {
        return JsonNodeFactory.instance.objectNode().put("peak_bytes", taken);
    }

    /** Writes the records of a case. */
    static void records(WriteCase writeCase, Writer writer) throws FaroException {
        Records source = writeCase.source();
        SplitMix numbers = WriteCase.partitionNumbers();
        ByteBuffer bytes = ByteBuffer.wrap(source.array());
        int next = 0;
        for (long i = 0; i < writeCase.records(); i++) {
            int start = source.start(next);
            bytes.limit(start + source.length(next)).position(start);
            writer.write(writeCase.partition(numbers), bytes);
            next = next + 1 == source.count() ? 0 : next + 1;
        }
    }

    private Path path(String extension) {
        return name.resolveSibling("faro" + extension);
    }

    @Override
    public void clear() throws IOException {
        Files.deleteIfExists(path(".data"));
        Files.deleteIfExists(path(".index"));
    }
}
