package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.index.DirectLookup;
import dev.faro.index.Footer;
import dev.faro.message.Directory;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * An output that may still be written (FOL): {@link #poll} makes the regions readable that were committed since. Regions
 * never change, so cursors stay valid. Safe to share between threads. Direct lookup does not concern it: it uses whole
 * region messages, whatever {@link ReaderOptions#lookup} says.
 */
public final class Follower extends PartitionReader {
    private final Walk walk;
    private final ByteBuffer schema;
    private volatile Directory committed = new Directory();
    private volatile Footer footer;
    private volatile boolean finished;

    private Follower(FileSet files, ReaderOptions options) throws FaroException {
        super(files, options);
        this.walk = new Walk(files, options.limits(), false);
        this.schema = walk.open();
    }

    /**
     * Opens an output by NAME, before any {@link #poll} without regions (PUB-1): {@code NAME.faro}, or
     * {@code NAME.data} and {@code NAME.index}, whichever exists; an ending of these says which, and is no part of NAME.
     *
     * @throws FaroException the first check of FOL-1 that fails, {@code io}, or {@code invalid-argument} if both layouts
     *     exist
     */
    public static Follower open(Path name, ReaderOptions options) throws FaroException {
        return open(FileSet.open(name), options);
    }

    /**
     * Opens a pair, before any {@link #poll} without regions.
     *
     * @throws FaroException the first check of FOL-1 that fails, or {@code io}
     */
    public static Follower openPair(Path data, Path index, ReaderOptions options) throws FaroException {
        return open(FileSet.openPair(data, index), options);
    }

    /**
     * Opens a single file, before any {@link #poll} without regions.
     *
     * @throws FaroException the first check of FOL-1 that fails, or {@code io}
     */
    public static Follower openSingle(Path file, ReaderOptions options) throws FaroException {
        return open(FileSet.openSingle(file), options);
    }

    private static Follower open(FileSet files, ReaderOptions options) throws FaroException {
        try {
            return new Follower(files, options);
        } catch (FaroException e) {
            FileSet.closeAfter(e, files);
            throw e;
        }
    }

    /**
     * Looks for regions that were committed since the last call.
     *
     * @return whether the file is finished
     * @throws FaroException the first fault; regions before it are readable
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

    /** Whether the file was finished when {@link #poll} last looked. */
    public boolean isFinished() {
        return finished;
    }

    @Override
    Directory directory() {
        return committed;
    }

    @Override
    DirectLookup directLookup() {
        return null;
    }

    @Override
    public Footer footer() {
        return footer;
    }

    @Override
    ByteBuffer schema() {
        return schema;
    }
}
