package dev.faro.follow;

import dev.faro.FaroException;
import dev.faro.internal.follow.GrowingReader;
import dev.faro.internal.reader.FileSet;
import dev.faro.reader.PartitionReader;
import dev.faro.reader.ReaderOptions;
import java.nio.file.Path;

/**
 * An output that may still be written (FOL): {@link #poll} makes the regions readable that were committed since. Regions
 * never change, so cursors stay valid. Safe to share between threads. A follower uses whole region messages, whatever
 * {@link ReaderOptions#lookup} says.
 */
public final class Follower extends PartitionReader {
    private final GrowingReader output;

    private Follower(GrowingReader output) {
        super(output);
        this.output = output;
    }

    /**
     * Opens an output by NAME (PUB-1): {@code NAME.faro}, or {@code NAME.data} and {@code NAME.index}, whichever exists. An
     * ending of these says which; it is not a part of NAME. Before the first {@link #poll} the output has no regions.
     *
     * @throws FaroException the first check of FOL-1 that fails, {@code io}, or {@code invalid-argument} if both layouts
     *     exist
     */
    public static Follower open(Path name, ReaderOptions options) throws FaroException {
        return new Follower(GrowingReader.open(FileSet.open(name), options));
    }

    /**
     * Opens a pair. Before the first {@link #poll} it has no regions.
     *
     * @throws FaroException the first check of FOL-1 that fails, or {@code io}
     */
    public static Follower openPair(Path data, Path index, ReaderOptions options) throws FaroException {
        return new Follower(GrowingReader.open(FileSet.openPair(data, index), options));
    }

    /**
     * Opens a single file. Before the first {@link #poll} it has no regions.
     *
     * @throws FaroException the first check of FOL-1 that fails, or {@code io}
     */
    public static Follower openSingle(Path file, ReaderOptions options) throws FaroException {
        return new Follower(GrowingReader.open(FileSet.openSingle(file), options));
    }

    /**
     * Looks for regions that were committed since the last call.
     *
     * @return whether the file is finished
     * @throws FaroException the first fault; regions before it are readable
     */
    public boolean poll() throws FaroException {
        return output.poll();
    }

    /** Whether the file was finished when {@link #poll} last looked. */
    public boolean isFinished() {
        return output.isFinished();
    }
}
