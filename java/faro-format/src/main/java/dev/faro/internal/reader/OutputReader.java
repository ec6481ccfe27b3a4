package dev.faro.internal.reader;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Limits;
import dev.faro.internal.index.DirectLookup;
import dev.faro.internal.index.FooterMessage;
import dev.faro.internal.index.RegionIndex;
import dev.faro.internal.index.Regions;
import dev.faro.internal.message.Directory;
import dev.faro.reader.ReaderOptions;
import java.io.Closeable;
import java.nio.ByteBuffer;

/**
 * An open output, finished or growing, for the rooms that read it: its files, and what is kept of them between calls.
 * Safe to share between threads.
 */
public abstract class OutputReader implements Closeable {
    private final FileSet files;
    private final Limits limits;
    private final Regions regions;
    private final FileDictionaries dictionaries;
    private final ExtentReaders readers;

    /** An output whose headers were checked. */
    protected OutputReader(FileSet files, ReaderOptions options) {
        this.files = files;
        this.limits = options.limits();
        this.regions = new Regions(files.index(), files.header(), options.limits(), options.cacheBytes());
        this.dictionaries = FileDictionaries.of(files, options.limits(), this::directory);
        this.readers = new ExtentReaders(
                files.data(), files.header().fileId(), options.limits(), options.verify(), dictionaries);
    }

    /** The regions and dictionaries that can be read now; the returned value does not change. */
    public abstract Directory directory();

    /** What the footer says, or null if it was not seen yet. */
    public abstract FooterMessage footer();

    /** What finds one partition's extents in place of whole region messages (LKP-1), or null. */
    public abstract DirectLookup directLookup();

    /** The encapsulated Arrow schema message, or null unless the framing is arrow; little-endian. */
    public abstract ByteBuffer schema();

    /** The open files. */
    public final FileSet files() {
        return files;
    }

    /** The header of the index or single file. */
    public final FileHeader header() {
        return files.header();
    }

    /** What is taken from the files at most. */
    public final Limits limits() {
        return limits;
    }

    /** The regions, with their cache. */
    public final Regions regions() {
        return regions;
    }

    /** Buffers and decoders for cursors. */
    public final ExtentReaders readers() {
        return readers;
    }

    /** The dictionaries that blocks may name, or null without the reader feature. */
    public final FileDictionaries dictionaries() {
        return dictionaries;
    }

    /**
     * One of the committed regions, checked by REG-10.
     *
     * @throws FaroException {@code invalid-argument} if there is no such region, or the check that fails
     */
    public final RegionIndex region(int number) throws FaroException {
        Directory directory = directory();
        if (number < 0 || number >= directory.size()) {
            throw FaroException.invalidArgument("a region below " + directory.size(), number);
        }
        return regions.get(directory, number);
    }

    /**
     * The bytes of the extents that a partition reads, headers and padding included (PRT-6).
     *
     * @throws FaroException {@code invalid-argument}, or what looking up the region messages finds
     */
    public final long storedBytes(int partition) throws FaroException {
        checkPartition(partition);
        FooterMessage footer = footer();
        if (footer != null && footer.statistics() != null) {
            return footer.statistics().stored(partition);
        }
        if (directLookup() != null) {
            return directLookup().find(partition).bytes();
        }
        Directory directory = directory();
        long bytes = 0;
        for (int i = 0; i < directory.size(); i++) {
            bytes += regions.get(directory, i).storedBytes(partition);
        }
        return bytes;
    }

    /**
     * Checks that the file has a partition (PRT-2).
     *
     * @throws FaroException {@code invalid-argument}
     */
    public final void checkPartition(int partition) throws FaroException {
        if (!header().has(partition)) {
            throw FaroException.invalidArgument("one of " + header().partitionCount() + " partitions from "
                    + header().firstPartition(), partition);
        }
    }

    /**
     * Checks that the file has the partitions from {@code from} to before {@code to} (PRT-2).
     *
     * @throws FaroException {@code invalid-argument}
     */
    public final void checkRange(int from, int to) throws FaroException {
        FileHeader header = header();
        int end = header.firstPartition() + header.partitionCount();
        if (from < header.firstPartition() || to < from || to > end) {
            throw FaroException.invalidArgument("a range in " + header.firstPartition() + " to " + end,
                    from + " to " + to);
        }
    }

    @Override
    public final void close() throws FaroException {
        files.close();
    }
}
