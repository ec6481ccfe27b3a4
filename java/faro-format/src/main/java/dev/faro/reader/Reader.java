package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.internal.reader.FileSet;
import dev.faro.internal.reader.FinishedReader;
import dev.faro.internal.reader.OutputReader;
import dev.faro.storage.StoredOutput;
import java.nio.file.Path;
import java.util.Objects;

/**
 * Reads a finished output, which was opened by OPN-1. Safe to share between threads.
 * <pre>{@code
 * try (Reader reader = Reader.open(Path.of("orders"), ReaderOptions.DEFAULT);
 *         RecordCursor records = reader.records(7)) {
 *     while (records.next()) {
 *         consume(records.record());
 *     }
 * }
 * }</pre>
 */
public final class Reader extends PartitionReader {
    private final FinishedReader output;

    private Reader(FinishedReader output) {
        super(output);
        this.output = output;
    }

    /**
     * Opens an output by NAME (PUB-1): {@code NAME.faro}, or {@code NAME.data} and {@code NAME.index}, whichever
     * exists. If {@code name} ends with {@code .faro}, {@code .data} or {@code .index}, the ending says which layout to
     * open, and NAME is the part before it.
     *
     * @throws FaroException the first check of OPN-1 that fails, {@code io}, or {@code invalid-argument} if both
     *     layouts exist
     */
    public static Reader open(Path name, ReaderOptions options) throws FaroException {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(options, "options");
        return open(() -> FileSet.open(name), options);
    }

    /**
     * Opens a pair.
     *
     * @throws FaroException the first check of OPN-1 that fails, or {@code io}
     */
    public static Reader openPair(Path data, Path index, ReaderOptions options) throws FaroException {
        Objects.requireNonNull(data, "data");
        Objects.requireNonNull(index, "index");
        Objects.requireNonNull(options, "options");
        return open(() -> FileSet.openPair(data, index), options);
    }

    /**
     * Opens a single file.
     *
     * @throws FaroException the first check of OPN-1 that fails, or {@code io}
     */
    public static Reader openSingle(Path file, ReaderOptions options) throws FaroException {
        Objects.requireNonNull(file, "file");
        Objects.requireNonNull(options, "options");
        return open(() -> FileSet.openSingle(file), options);
    }

    /**
     * Opens an output from its stored files, which may be anywhere. Closing the reader closes them; if opening fails,
     * it closes them too.
     * <pre>{@code
     * StoredOutput output = StoredOutput.paired(data, index);
     * try (Reader reader = Reader.openStored(output, ReaderOptions.DEFAULT)) {
     *     CheckReport report = Check.check(reader, CheckLevel.DECODE);
     * }
     * }</pre>
     *
     * @throws FaroException the first check of OPN-1 that fails, or {@code io}
     */
    public static Reader openStored(StoredOutput output, ReaderOptions options) throws FaroException {
        Objects.requireNonNull(output, "output");
        Objects.requireNonNull(options, "options");
        return open(() -> FileSet.openStored(output), options);
    }

    private static Reader open(OutputReader.Opener<FileSet> files, ReaderOptions options) throws FaroException {
        return new Reader(OutputReader.open(() -> FinishedReader.open(files.open(), options), options));
    }

    /** Reads from an open output, for other packages of this library, not for callers. */
    @SuppressWarnings("exports")
    public static Reader of(FinishedReader output) {
        return new Reader(output);
    }

    /** The open output, for other packages of this library, not for callers. */
    @Override
    @SuppressWarnings("exports")
    public FinishedReader output() {
        return output;
    }
}
