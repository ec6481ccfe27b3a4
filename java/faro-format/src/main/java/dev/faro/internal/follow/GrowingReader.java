package dev.faro.internal.follow;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.internal.index.DirectLookup;
import dev.faro.internal.index.FooterMessage;
import dev.faro.internal.message.Directory;
import dev.faro.internal.reader.FileSet;
import dev.faro.internal.reader.OutputReader;
import dev.faro.reader.ReaderOptions;
import java.nio.ByteBuffer;

/** An output that may still be written (FOL). {@link #poll} makes the regions readable that were committed since. */
public final class GrowingReader extends OutputReader {
    private final Walk walk;
    private final ByteBuffer schema;
    private volatile Directory committed = new Directory();
    private volatile FooterMessage footer;
    private volatile boolean finished;

    private GrowingReader(FileSet files, ReaderOptions options) throws FaroException {
        super(files, options);
        this.walk = new Walk(files, options.limits(), false);
        this.schema = walk.open();
    }

    /**
     * Opens an output from its open files. If this fails, it closes them.
     *
     * @throws FaroException the first check of FOL-1 that fails, or {@code io}
     */
    public static GrowingReader open(FileSet files, ReaderOptions options) throws FaroException {
        try {
            return new GrowingReader(files, options);
        } catch (FaroException | RuntimeException | Error e) {
            FileSet.closeAfter(e, files);
            throw e;
        }
    }

    /**
     * Looks for regions that were committed since the last call.
     *
     * @return whether the file is finished
     * @throws FaroException the first fault; the regions before it are readable
     */
    public synchronized boolean poll() throws FaroException {
        try {
            walk.advance();
        } finally {
            if (walk.directory().size() != committed.size()
                    || walk.directory().dictionaryCount() != committed.dictionaryCount()) {
                committed = walk.directory().copy();
            }
            footer = walk.footer();
            finished = walk.isFinished();
        }
        return finished;
    }

    @Override
    public boolean isFinished() {
        return finished;
    }

    /** The fault of those that wait for regions that a dead writer does not write. */
    public synchronized FaroException givenUp() {
        return files().index().fault(ErrorCode.UNFINISHED, walk.metadataEnd(),
                "another region or the footer, of a writer that is alive", "a writer that was given up");
    }

    @Override
    public Directory directory() {
        return committed;
    }

    @Override
    public DirectLookup directLookup() {
        return null;
    }

    @Override
    public FooterMessage footer() {
        return footer;
    }

    @Override
    public ByteBuffer schema() {
        return schema;
    }
}
