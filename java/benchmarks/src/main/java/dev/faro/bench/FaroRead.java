package dev.faro.bench;

import dev.faro.FaroException;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.Writer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Faro's reader in one thread with all checksums verified: all blocks, in the order of the file or by partition. */
public class FaroRead implements WriteSubject {
    private final WriteCase writeCase;
    private final boolean byPartition;
    private final Path data;
    private final Path index;

    /** Reads {@code faro.data} and {@code faro.index} in a folder. Makes them if they do not exist. */
    public FaroRead(WriteCase writeCase, boolean byPartition, Path folder) throws FaroException {
        this.writeCase = writeCase;
        this.byPartition = byPartition;
        this.data = folder.resolve("faro.data");
        this.index = folder.resolve("faro.index");
        if (!Files.exists(data)) {
            try (Writer writer = Writer.createPair(data, index, FaroWrite.options(writeCase))) {
                FaroWrite.records(writeCase, writer);
                writer.finish();
            }
        }
    }

    @Override
    public String name() {
        return "faro";
    }

    @Override
    public long plainBytes() {
        return writeCase.plainBytes();
    }

    /** Opens the files, reads all of them, and closes them. */
    @Override
    public final Outcome write() throws Exception {
        long begin = System.nanoTime();
        long bytes;
        try (Reader reader = Reader.openPair(data, index, ReaderOptions.DEFAULT)) {
            bytes = read(reader);
        }
        long nanos = System.nanoTime() - begin;
        if (bytes != plainBytes()) {
            throw new IOException("expected " + plainBytes() + " bytes as written, read " + bytes);
        }
        return new Outcome(nanos, Files.size(data), Files.size(index), 2);
    }

    /** The plain size of all blocks in bytes. */
    long read(Reader reader) throws Exception {
        long bytes = 0;
        try (BlockCursor blocks = byPartition ? reader.byPartition(0, writeCase.partitions()) : reader.all()) {
            while (blocks.next()) {
                bytes += blocks.payload().remaining();
            }
        }
        return bytes;
    }

    /** The files stay for the next repetition; the folder is removed at the end. */
    @Override
    public void clear() {}
}
