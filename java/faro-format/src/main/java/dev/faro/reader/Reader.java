package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.index.DirectLookup;
import dev.faro.index.Footer;
import dev.faro.message.Directory;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** A finished output, opened by OPN-1. Safe to share between threads. */
public final class Reader extends PartitionReader {
    private final Opening opening;
    private final DirectLookup directLookup;

    private Reader(FileSet files, Opening opening, ReaderOptions options) {
        super(files, options);
        this.opening = opening;
        this.directLookup = options.lookup() == Lookup.FULL ? null
                : new DirectLookup(files.index(), files.header(), opening.footer(), opening.footerOffset());
    }

    /**
     * Opens an output by NAME (PUB-1): {@code NAME.faro}, or {@code NAME.data} and {@code NAME.index}, whichever exists; an
     * ending of these says which, and is no part of NAME.
     *
     * @throws FaroException the first check of OPN-1 that fails, {@code io}, or {@code invalid-argument} if both layouts
     *     exist
     */
    public static Reader open(Path name, ReaderOptions options) throws FaroException {
        return open(FileSet.open(name), options);
    }

    /**
     * Opens a pair.
     *
     * @throws FaroException the first check of OPN-1 that fails, or {@code io}
     */
    public static Reader openPair(Path data, Path index, ReaderOptions options) throws FaroException {
        return open(FileSet.openPair(data, index), options);
    }

    /**
     * Opens a single file.
     *
     * @throws FaroException the first check of OPN-1 that fails, or {@code io}
     */
    public static Reader openSingle(Path file, ReaderOptions options) throws FaroException {
        return open(FileSet.openSingle(file), options);
    }

    private static Reader open(FileSet files, ReaderOptions options) throws FaroException {
        try {
            return new Reader(files, Opening.of(files, options.limits()), options);
        } catch (FaroException e) {
            FileSet.closeAfter(e, files);
            throw e;
        }
    }

    @Override
    Directory directory() {
        return opening.footer().directory();
    }

    @Override
    DirectLookup directLookup() {
        return directLookup;
    }

    Opening opening() {
        return opening;
    }

    /** What the footer says. */
    @Override
    public Footer footer() {
        return opening.footer();
    }

    @Override
    ByteBuffer schema() {
        return opening.schema();
    }
}
