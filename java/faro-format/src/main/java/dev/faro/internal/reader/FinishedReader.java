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
    private final Opened opened;
    private final DirectLookup directLookup;

    /** Makes a reader of an output that was opened. */
    public FinishedReader(FileSet files, Opened opened, ReaderOptions options) {
        super(files, options);
        this.opened = opened;
        this.directLookup = options.lookup() == Lookup.FULL ? null
                : new DirectLookup(files.index(), files.header(), opened.footer(), opened.footerOffset());
    }

    /**
     * Opens an output from its open files, and tells no listener about it. If this fails, it closes them.
     *
     * @throws FaroException the first check of OPN-1 that fails, or {@code io}
     */
    public static FinishedReader open(FileSet files, ReaderOptions options) throws FaroException {
        try {
            return new FinishedReader(files, Opened.of(files, options.limits()), options);
        } catch (FaroException | RuntimeException | Error e) {
            FileSet.closeAfter(e, files);
            throw e;
        }
    }

    /** The results of opening. */
    public Opened opened() {
        return opened;
    }

    @Override
    public Directory directory() {
        return opened.footer().directory();
    }

    @Override
    public DirectLookup directLookup() {
        return directLookup;
    }

    @Override
    public FooterMessage footer() {
        return opened.footer();
    }

    @Override
    public ByteBuffer schema() {
        return opened.schema();
    }
}
