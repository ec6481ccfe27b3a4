package dev.faro.follow;

import dev.faro.FaroException;
import dev.faro.internal.follow.GrowingReader;
import dev.faro.internal.reader.FileSet;
import dev.faro.internal.reader.OutputReader;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.PartitionReader;
import dev.faro.reader.ReaderOptions;
import java.nio.file.Path;
import java.util.Objects;

/**
 * Reads an output that may still be written (FOL). {@link #poll} makes the regions readable that were committed since
 * the last call. Regions never change, so cursors stay valid. Safe to share between threads.
 *
 * <pre>{@code
 * try (Follower follower = Follower.open(Path.of("orders"), ReaderOptions.DEFAULT)) {
 *     while (!follower.poll()) {
 *         Thread.sleep(100);
 *     }
 *     // The file is finished, and all of its regions are readable.
 * }
 * }</pre>
 *
 * <p>A follower reads whole region messages and ignores {@link ReaderOptions#lookup}.
 */
public final class Follower extends PartitionReader {
    private final GrowingReader output;

    private Follower(GrowingReader output) {
        super(output);
        this.output = output;
    }

    /**
     * Opens an output by NAME (PUB-1): {@code NAME.faro}, or {@code NAME.data} and {@code NAME.index}, whichever
     * exists. If {@code name} ends with {@code .faro}, {@code .data} or {@code .index}, the ending says which layout to
     * open, and NAME is the part before it. Until the first {@link #poll} the output has no regions.
     *
     * @throws FaroException the first check of FOL-1 that fails, {@code io}, or {@code invalid-argument} if both
     *     layouts exist
     */
    public static Follower open(Path name, ReaderOptions options) throws FaroException {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(options, "options");
        return open(() -> FileSet.open(name), options);
    }

    /**
     * Opens a pair. Until the first {@link #poll} it has no regions.
     *
     * @throws FaroException the first check of FOL-1 that fails, or {@code io}
     */
    public static Follower openPair(Path data, Path index, ReaderOptions options) throws FaroException {
        Objects.requireNonNull(data, "data");
        Objects.requireNonNull(index, "index");
        Objects.requireNonNull(options, "options");
        return open(() -> FileSet.openPair(data, index), options);
    }

    /**
     * Opens a single file. Until the first {@link #poll} it has no regions.
     *
     * @throws FaroException the first check of FOL-1 that fails, or {@code io}
     */
    public static Follower openSingle(Path file, ReaderOptions options) throws FaroException {
        Objects.requireNonNull(file, "file");
        Objects.requireNonNull(options, "options");
        return open(() -> FileSet.openSingle(file), options);
    }

    /**
     * Follows files that grow in a storage of this library; for its other packages, not for callers.
     *
     * @throws FaroException as {@link #open}
     */
    @SuppressWarnings("exports")
    public static Follower of(FileSet files, ReaderOptions options) throws FaroException {
        return open(() -> files, options);
    }

    private static Follower open(OutputReader.Opener<FileSet> files, ReaderOptions options) throws FaroException {
        return new Follower(OutputReader.open(() -> GrowingReader.open(files.open(), options), options));
    }

    /**
     * Looks for regions that were committed since the last call.
     *
     * @return whether the file is finished; it does not change any more then
     * @throws FaroException the first fault; the regions before it are readable
     */
    public boolean poll() throws FaroException {
        try {
            return output.poll();
        } catch (FaroException e) {
            throw output.news().fault(e);
        }
    }

    /**
     * Reads the blocks of a partition from region 0 on, as its regions come (FOL-7). {@link BlockCursor#next} returns
     * false when there is no block now; after a later {@link #poll} it may return true again, unless the file is finished.
     * It is one reading, whose sequences are checked over all regions: it finds blocks that are missing between two
     * regions, which readings of each region by itself do not. While there is no block, the cursor has no buffers.
     * <pre>{@code
     * try (BlockCursor watch = follower.watch(7)) {
     *     boolean finished;
     *     do {
     *         finished = follower.poll();
     *         while (watch.next()) {
     *             consume(watch.kind(), watch.payload());
     *         }
     *         // Wait a moment here, unless the file is finished: the writer is still at work.
     *     } while (!finished);
     * }
     * }</pre>
     *
     * @throws FaroException {@code invalid-argument} if the file does not have the partition
     */
    public BlockCursor watch(int partition) throws FaroException {
        return watchOf(partition, 0);
    }

    /**
     * Reads the blocks of a partition from a later region on; see {@link #watch(int)}. As every reading that begins there,
     * it accepts any first sequence.
     *
     * @param firstRegion the number of a region that was polled, or the number of regions
     * @throws FaroException {@code invalid-argument} if the file does not have the partition or the region
     */
    public BlockCursor watch(int partition, int firstRegion) throws FaroException {
        return watchOf(partition, firstRegion);
    }

    /**
     * The fault of readings that wait for a writer that is dead: {@code unfinished}, at the end of the last region. A
     * follower cannot know that by itself (FOL-6); pass it to {@link dev.faro.reader.Feed#endOfRegions}.
     */
    public FaroException givenUp() {
        return output.givenUp();
    }

    /** Whether the file was finished at the last {@link #poll}. */
    public boolean isFinished() {
        return output.isFinished();
    }
}
