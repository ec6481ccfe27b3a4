package dev.faro.internal.reader;

import dev.faro.FaroException;
import dev.faro.internal.index.DirectLookup;
import dev.faro.internal.index.FooterMessage;
import dev.faro.internal.message.Directory;
import dev.faro.reader.Lookup;
import dev.faro.reader.ReaderOptions;
import java.nio.ByteBuffer;

/** A finished output that was opened by OPN-1. */
public final class FinishedReader extends OutputReader {
    private final Opening opening;
    private final DirectLookup directLookup;

    /** Makes a reader of an output that was opened. */
    public FinishedReader(FileSet files, Opening opening, ReaderOptions options) {
        super(files, options);
        this.opening = opening;
        this.directLookup = options.lookup() == Lookup.FULL ? null
                : new DirectLookup(files.index(), files.header(), opening.footer(), opening.footerOffset());
    }

    /**
     * Opens an output from its open files. If this fails, it closes them.
     *
     * @throws FaroException the first check of OPN-1 that fails, or {@code io}
     */
    public static FinishedReader open(FileSet files, ReaderOptions options) throws FaroException {
        try {
            return new FinishedReader(files, Opening.of(files, options.limits()), options);
        } catch (FaroException | RuntimeException | Error e) {
            FileSet.closeAfter(e, files);
            throw e;
        }
    }

    /** The results of opening. */
    public Opening opening() {
        return opening;
    }

    @Override
    public Directory directory() {
        return opening.footer().directory();
    }

    @Override
    public DirectLookup directLookup() {
        return directLookup;
    }

    @Override
    public FooterMessage footer() {
        return opening.footer();
    }

    @Override
    public ByteBuffer schema() {
        return opening.schema();
    }
}
