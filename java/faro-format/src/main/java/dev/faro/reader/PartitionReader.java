package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.Limits;
import dev.faro.file.InputFile;
import dev.faro.header.Framing;
import dev.faro.header.FileHeader;
import dev.faro.index.DirectLookup;
import dev.faro.index.Footer;
import dev.faro.index.Region;
import dev.faro.index.Regions;
import dev.faro.message.Directory;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What can be read of an output, finished or growing: partitions, ranges of them, or everything. Reading is safe from
 * several threads at once; each cursor is for one thread. A thread that is interrupted while it reads, or before, gets
 * {@code io} with an {@link java.io.InterruptedIOException} as cause and stays interrupted; the others read on.
 */
public abstract sealed class PartitionReader implements Closeable permits Reader, Follower {
    private final FileSet files;
    private final Limits limits;
    private final Regions regions;
    private final FileDictionaries dictionaries;
    private final ExtentReaders readers;

    PartitionReader(FileSet files, ReaderOptions options) {
        this.files = files;
        this.limits = options.limits();
        this.regions = new Regions(files.index(), files.header(), options.limits(), options.cacheBytes());
        this.dictionaries = FileDictionaries.of(files, options.limits(), this::directory);
        this.readers = new ExtentReaders(
                files.data(), files.header().fileId(), options.limits(), options.verify(), dictionaries);
    }

    /** The regions to read, which do not change. */
    abstract Directory directory();

    /** What the footer says, or null if it was not seen yet. */
    public abstract Footer footer();

    /** What finds one partition's extents in place of whole region messages (LKP-1), or null. */
    abstract DirectLookup directLookup();

    /** What {@link #schemaMessage} shows. */
    abstract ByteBuffer schema();

    /**
     * The encapsulated Arrow schema message, a view of the caller's own, which cannot be written; little-endian.
     *
     * @return null unless the framing is arrow
     */
    public final ByteBuffer schemaMessage() {
        ByteBuffer schema = schema();
        return schema == null ? null : schema.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    final FileSet files() {
        return files;
    }

    /** The data file, or the single file: for who reads it in another order. */
    public final InputFile dataFile() {
        return files.data();
    }

    final Limits limits() {
        return limits;
    }

    final Regions regions() {
        return regions;
    }

    final ExtentReaders readers() {
        return readers;
    }

    final FileDictionaries dictionaries() {
        return dictionaries;
    }

    /** The header of the index or single file. */
    public final FileHeader header() {
        return files.header();
    }

    /** Count of the committed regions. */
    public final int regionCount() {
        return directory().size();
    }

    /** Count of the dictionaries; those of a pair that a {@link Follower} reads, before the committed regions. */
    public final int dictionaryCount() {
        return directory().dictionaryCount();
    }

    /** Where the block of a dictionary begins in the data or single file, by its number less 1. */
    public final long dictionaryOffset(int dictionary) {
        return directory().dictionaryOffset(dictionary);
    }

    /** Bytes of a dictionary, by its number less 1. */
    public final int dictionarySize(int dictionary) {
        return directory().dictionarySize(dictionary);
    }

    /**
     * One of the committed regions, checked by REG-10.
     *
     * @throws FaroException {@code invalid-argument} if there is no such region, or the check that fails
     */
    public final Region region(int number) throws FaroException {
        Directory directory = directory();
        if (number < 0 || number >= directory.size()) {
            throw FaroException.invalidArgument("a region below " + directory.size(), number);
        }
        return regions.get(directory, number);
    }

    /**
     * The blocks of a partition in order (PRT-1).
     *
     * @throws FaroException {@code invalid-argument} if the file does not have the partition (PRT-2)
     */
    public final BlockCursor partition(int partition) throws FaroException {
        return partition(partition, 0);
    }

    /**
     * The blocks of a partition in order, from one of the regions on. With {@link Lookup#DIRECT} the regions before are
     * looked up too, and faults of looking up come at the first {@link BlockCursor#next}, before any block (LKP-3).
     *
     * @throws FaroException {@code invalid-argument} if the file does not have the partition or the region
     */
    public final BlockCursor partition(int partition, int firstRegion) throws FaroException {
        checkPartition(partition);
        Directory directory = directory();
        if (firstRegion < 0 || firstRegion > directory.size()) {
            throw FaroException.invalidArgument("a region from 0 to " + directory.size(), firstRegion);
        }
        DirectLookup direct = directLookup();
        if (direct == null) {
            return cursor(directory, partition, partition + 1, firstRegion);
        }
        ExtentReaders.ExtentReader reader = readers.take();
        Extents extents = new LookedUpExtents(direct, reader.blocks(), header().selective(), partition, firstRegion);
        return new BlockCursor(this, reader, extents, firstRegion == 0);
    }

    /**
     * The blocks of the partitions from {@code from} to before {@code to}, region by region (PRT-5).
     *
     * @throws FaroException {@code invalid-argument} if the file does not have all of them
     */
    public final BlockCursor range(int from, int to) throws FaroException {
        checkRange(from, to);
        return cursor(directory(), from, to, 0);
    }

    /**
     * The blocks of the partitions from {@code from} to before {@code to}, one partition after another, each in the
     * order of {@link #partition} (PRT-7). Partitions are read together, as many as have 4 MiB in all regions; so this
     * takes few reads, where a cursor for each of many small partitions would take one for each region.
     *
     * @throws FaroException {@code invalid-argument} if the file does not have all of them
     */
    public final BlockCursor byPartition(int from, int to) throws FaroException {
        checkRange(from, to);
        ExtentReaders.ExtentReader reader = readers.take();
        return new BlockCursor(this, reader, new PartitionExtents(this, directory(), reader.blocks(), from, to), true);
    }

    private BlockCursor cursor(Directory directory, int from, int to, int firstRegion) {
        ExtentReaders.ExtentReader reader = readers.take();
        return new BlockCursor(this, reader,
                new RegionExtents(regions, directory, reader.blocks(), from, to, firstRegion), firstRegion == 0);
    }

    final void checkRange(int from, int to) throws FaroException {
        FileHeader header = header();
        int end = header.firstPartition() + header.partitionCount();
        if (from < header.firstPartition() || to < from || to > end) {
            throw FaroException.invalidArgument("a range in " + header.firstPartition() + " to " + end,
                    from + " to " + to);
        }
    }

    /** The blocks of all partitions, region by region (PRT-5). */
    public final BlockCursor all() throws FaroException {
        return range(header().firstPartition(), header().firstPartition() + header().partitionCount());
    }

    /**
     * The records and events of a partition in order. With framing arrow a record is an encapsulated message.
     *
     * @throws FaroException {@code invalid-argument} if the file does not have the partition, or its framing has no
     *     records
     */
    public final RecordCursor records(int partition) throws FaroException {
        if (header().framing() == Framing.OPAQUE) {
            throw FaroException.invalidArgument("framing records or arrow", header().framing());
        }
        return new RecordCursor(partition(partition));
    }

    /**
     * The bytes in the file of the extents that a partition reads, headers and padding included, without reading any
     * block of them (PRT-6).
     *
     * @throws FaroException {@code invalid-argument}, or what looking the region messages up finds
     */
    public final long storedBytes(int partition) throws FaroException {
        checkPartition(partition);
        Footer footer = footer();
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

    private void checkPartition(int partition) throws FaroException {
        if (!header().has(partition)) {
            throw FaroException.invalidArgument("one of " + header().partitionCount() + " partitions from "
                    + header().firstPartition(), partition);
        }
    }

    /** Closes the files; cursors fail from then on. */
    @Override
    public void close() throws FaroException {
        files.close();
    }
}
