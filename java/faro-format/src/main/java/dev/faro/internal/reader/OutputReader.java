package dev.faro.internal.reader;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Limits;
import dev.faro.MemoryBudget;
import dev.faro.index.RegionCache;
import dev.faro.internal.bytes.CountedBudget;
import dev.faro.internal.index.DirectLookup;
import dev.faro.internal.index.FooterMessage;
import dev.faro.internal.index.RegionIndex;
import dev.faro.internal.index.RegionStore;
import dev.faro.internal.index.Regions;
import dev.faro.internal.message.Directory;
import dev.faro.internal.storage.BroughtFile;
import dev.faro.reader.ReaderOptions;
import java.io.Closeable;
import java.nio.ByteBuffer;

/**
 * An open output, finished or growing: its files, and what is kept of them between calls. Other packages of this
 * library read through it. Safe to share between threads.
 */
public abstract class OutputReader implements Closeable {
    private final FileSet files;
    private final Limits limits;
    private final CountedBudget budget;
    private final Regions regions;
    private final FileDictionaries dictionaries;
    private final ExtentReaders readers;
    private final ReaderNews news;
    private final DeliveredBlocks delivered = new DeliveredBlocks();

    /** Makes a reader of an output with checked headers. */
    protected OutputReader(FileSet files, ReaderOptions options) {
        this.files = files;
        this.limits = options.limits();
        this.budget = CountedBudget.of(options.memoryBudget());
        this.news = new ReaderNews(options.listener());
        this.regions = new Regions(files.index(), files.header(), options.limits(), store(options, budget));
        this.dictionaries = FileDictionaries.of(files, options.limits(), this::directory, budget);
        this.readers = new ExtentReaders(
                files.data(), files.header().fileId(), options.limits(), options.verify(), dictionaries, budget);
    }

    private static RegionStore store(ReaderOptions options, MemoryBudget budget) {
        RegionCache shared = options.regionCache();
        return shared == null ? new RegionStore(options.cacheBytes(), budget) : shared.store();
    }

    /** The regions and dictionaries that can be read now. The result does not change. */
    public abstract Directory directory();

    /** Whether no more regions will come. */
    public boolean isFinished() {
        return true;
    }

    /** The contents of the footer, or null if it was not read yet. */
    public abstract FooterMessage footer();

    /** Finds one partition's extents without whole region messages (LKP-1); null if whole messages are to be used. */
    public abstract DirectLookup directLookup();

    /** The encapsulated Arrow schema message, little-endian; null if the framing is not arrow. */
    public abstract ByteBuffer schema();

    /** The open files. */
    public final FileSet files() {
        return files;
    }

    /** The header of the index or single file. */
    public final FileHeader header() {
        return files.header();
    }

    /** The limits of what is read from the files. */
    public final Limits limits() {
        return limits;
    }

    /** Tells the listener and the flight recorder about faults. */
    public final ReaderNews news() {
        return news;
    }

    /** Opens an output. */
    public interface Opener<T> {
        T open() throws FaroException;
    }

    /**
     * Opens an output, and tells the listener and the flight recorder that it was opened, or of the fault. An output of
     * which they cannot be told is closed.
     */
    public static <T extends OutputReader> T open(Opener<T> how, ReaderOptions options) throws FaroException {
        T output;
        try {
            output = how.open();
        } catch (FaroException e) {
            throw new ReaderNews(options.listener()).fault(e);
        }
        output.tellOpened();
        return output;
    }

    /**
     * Tells the listener and the flight recorder that the output was opened; if that fails, closes it.
     *
     * @throws FaroException {@code io} if the files do not tell their sizes
     */
    public final void tellOpened() throws FaroException {
        try {
            news.opened(files, directory().size());
        } catch (FaroException | RuntimeException | Error e) {
            FileSet.closeAfter(e, this);
            throw e;
        }
    }

    /** The engine's budget, or null. */
    public final MemoryBudget budget() {
        return budget;
    }

    /** How often the budget refused memory. */
    public final long memoryRefusals() {
        return CountedBudget.refusals(budget);
    }

    /** The regions and their cache. */
    public final Regions regions() {
        return regions;
    }

    /** Buffers and decoders for cursors. */
    public final ExtentReaders readers() {
        return readers;
    }

    /** The dictionaries that blocks may use, or null without the reader feature. */
    public final FileDictionaries dictionaries() {
        return dictionaries;
    }

    /**
     * Returns one of the committed regions, checked by REG-10.
     *
     * @throws FaroException {@code invalid-argument} if there is no such region, or the check that fails
     */
    public final RegionIndex region(int number) throws FaroException {
        Directory directory = directory();
        if (number < 0 || number >= directory.size()) {
            throw FaroException.invalidArgument("a region number below " + directory.size(), number);
        }
        return regions.get(directory, number);
    }

    /**
     * The size in bytes of the extents that a partition reads, with headers and padding (PRT-6).
     *
     * @throws FaroException {@code invalid-argument}, or a fault of a region message
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
     * Checks that the file has the partitions in [from, to) (PRT-2).
     *
     * @throws FaroException {@code invalid-argument}
     */
    public final void checkRange(int from, int to) throws FaroException {
        FileHeader header = header();
        int end = header.firstPartition() + header.partitionCount();
        if (from < header.firstPartition() || to < from || to > end) {
            throw FaroException.invalidArgument("a range within " + header.firstPartition() + " to " + end,
                    from + " to " + to);
        }
    }

    /** The blocks that cursors have delivered. */
    public final DeliveredBlocks delivered() {
        return delivered;
    }

    /** The size in bytes of what is kept between calls. */
    public final long memory() {
        long memory = regions.memory() + readers.memory();
        BroughtFile index = files.index().brought();
        if (index != null) {
            memory += index.memory() + (files.isSingle() ? 0 : files.data().brought().memory());
        }
        return dictionaries == null ? memory : memory + dictionaries.memory();
    }

    @Override
    public final void close() throws FaroException {
        readers.close();
        // Each, even if a budget fails.
        try {
            regions.close();
        } finally {
            try {
                if (dictionaries != null) {
                    dictionaries.close();
                }
            } finally {
                files.close();
            }
        }
    }
}
