package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Framing;
import dev.faro.index.Footer;
import dev.faro.index.Region;
import dev.faro.internal.index.DirectLookup;
import dev.faro.internal.index.FooterMessage;
import dev.faro.internal.message.Directory;
import dev.faro.internal.reader.DeliveredBlocks;
import dev.faro.internal.reader.ExtentReaders;
import dev.faro.internal.reader.OutputReader;
import dev.faro.internal.storage.ReadCounts;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Reads an output, finished or growing: single partitions, ranges of them, or everything. Several threads may read at
 * the same time; each cursor is for one thread. A thread that is interrupted before or while it reads gets {@code io}
 * with an {@link java.io.InterruptedIOException} as cause, and stays interrupted; other threads continue to read.
 */
public abstract class PartitionReader implements Closeable {
    private final OutputReader output;

    /** For other packages of this library, not for callers. */
    @SuppressWarnings("exports")
    protected PartitionReader(OutputReader output) {
        this.output = output;
    }

    /** The open output, for other packages of this library, not for callers. */
    @SuppressWarnings("exports")
    public OutputReader output() {
        return output;
    }

    /** The contents of the footer, or null if a follower has not read it yet. */
    public final Footer footer() {
        FooterMessage message = output.footer();
        return message == null ? null : message.footer();
    }

    /**
     * The encapsulated Arrow schema message, as a new read-only view; little-endian.
     *
     * @return null if the framing is not arrow
     */
    public final ByteBuffer schemaMessage() {
        ByteBuffer schema = output.schema();
        return schema == null ? null : schema.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The header of the index file or single file. */
    public final FileHeader header() {
        return output.header();
    }

    /** The number of committed regions. */
    public final int regionCount() {
        return output.directory().size();
    }

    /**
     * The number of dictionaries. A {@link dev.faro.follow.Follower} of a pair counts only those before the end of the
     * committed regions.
     */
    public final int dictionaryCount() {
        return output.directory().dictionaryCount();
    }

    /** The offset of a dictionary's block in the data file or single file. {@code dictionary} is its number less 1. */
    public final long dictionaryOffset(int dictionary) {
        return output.directory().dictionaryOffset(dictionary);
    }

    /** The stored size of a dictionary in bytes. {@code dictionary} is its number less 1. */
    public final int dictionarySize(int dictionary) {
        return output.directory().dictionarySize(dictionary);
    }

    /**
     * Returns one of the committed regions, checked by REG-10.
     *
     * @throws FaroException {@code invalid-argument} if there is no such region, or the check that fails
     */
    public final Region region(int number) throws FaroException {
        try {
            return output.region(number);
        } catch (FaroException e) {
            throw output.news().fault(e);
        }
    }

    /**
     * Reads the blocks of a partition in order (PRT-1). Close the cursor after use.
     *
     * @throws FaroException {@code invalid-argument} if the file does not have the partition (PRT-2)
     */
    public final BlockCursor partition(int partition) throws FaroException {
        return partition(partition, 0);
    }

    /**
     * Reads the blocks of a partition in order, beginning at a region. With {@link Lookup#DIRECT}, the regions before
     * it are looked up too, and a fault of the lookup is reported by the first {@link BlockCursor#next}, before any
     * block (LKP-3).
     *
     * @param firstRegion the number of the first region, or the number of regions to read nothing
     * @throws FaroException {@code invalid-argument} if the file does not have the partition or the region
     */
    public final BlockCursor partition(int partition, int firstRegion) throws FaroException {
        output.checkPartition(partition);
        Directory directory = output.directory();
        checkRegion(directory, firstRegion);
        DirectLookup direct = output.directLookup();
        if (direct == null) {
            return cursor(directory, partition, partition + 1, firstRegion);
        }
        ExtentReaders.ExtentReader reader = output.readers().take();
        Extents extents = new LookedUpExtents(direct, reader.blocks(), header().selective(), partition, firstRegion);
        return new BlockCursor(output, reader, extents, firstRegion == 0);
    }

    /**
     * Reads the blocks of the partitions in [from, to), region by region (PRT-5).
     *
     * @throws FaroException {@code invalid-argument} if the file does not have all of the partitions
     */
    public final BlockCursor range(int from, int to) throws FaroException {
        output.checkRange(from, to);
        return cursor(output.directory(), from, to, 0);
    }

    /**
     * Reads the blocks of the partitions in [from, to), one partition after another, each in the order of
     * {@link #partition} (PRT-7). Partitions are read together while their extents in all regions have at most 768 KiB
     * for local files, and {@link dev.faro.storage.StoredFile#readBytes} for others. For many small partitions this
     * needs few reads; a cursor for each partition would need one for each region.
     *
     * @throws FaroException {@code invalid-argument} if the file does not have all of the partitions
     */
    public final BlockCursor byPartition(int from, int to) throws FaroException {
        output.checkRange(from, to);
        ExtentReaders.ExtentReader reader = output.readers().take();
        Extents extents = new PartitionExtents(output, output.directory(), reader.blocks(), from, to);
        return new BlockCursor(output, reader, extents, true);
    }

    /** Reads a partition of a growing output as its regions come; for other packages of this library. */
    protected final BlockCursor watchOf(int partition, int firstRegion) throws FaroException {
        output.checkPartition(partition);
        checkRegion(output.directory(), firstRegion);
        return BlockCursor.watch(output, partition, firstRegion);
    }

    private static void checkRegion(Directory directory, int firstRegion) throws FaroException {
        if (firstRegion < 0 || firstRegion > directory.size()) {
            throw FaroException.invalidArgument("a region number from 0 to " + directory.size(), firstRegion);
        }
    }

    private BlockCursor cursor(Directory directory, int from, int to, int firstRegion) {
        ExtentReaders.ExtentReader reader = output.readers().take();
        Extents extents = new RegionExtents(output.regions(), directory, reader.blocks(), from, to, firstRegion);
        return new BlockCursor(output, reader, extents, firstRegion == 0);
    }

    /** Reads the blocks of all partitions, region by region (PRT-5). */
    public final BlockCursor all() throws FaroException {
        return range(header().firstPartition(), header().firstPartition() + header().partitionCount());
    }

    /**
     * Reads the records and events of a partition in order. With framing arrow, a record is an encapsulated message.
     *
     * @throws FaroException {@code invalid-argument} if the file does not have the partition, or its framing is opaque
     */
    public final RecordCursor records(int partition) throws FaroException {
        if (header().framing() == Framing.OPAQUE) {
            throw FaroException.invalidArgument("framing records or arrow", header().framing());
        }
        return new RecordCursor(partition(partition));
    }

    /**
     * The size in the file of the extents that a partition reads, in bytes, with headers and padding. No block of them
     * is read (PRT-6).
     *
     * @throws FaroException {@code invalid-argument}, or a fault of a region message
     */
    public final long storedBytes(int partition) throws FaroException {
        try {
            return output.storedBytes(partition);
        } catch (FaroException e) {
            throw output.news().fault(e);
        }
    }

    /**
     * What this reader keeps in memory now, in bytes: its region messages in the cache, also in a shared one;
     * dictionaries; what was brought to an {@link Opening}; and the buffers that are ready for the next cursors. Open
     * cursors have buffers besides: usually one of up to {@link dev.faro.storage.StoredFile#readBytes}. 0 after
     * {@link #close}.
     */
    public final long memoryUsed() {
        return output.memory();
    }

    /** What was read so far. May be asked for at any time, even after {@link #close}. */
    public final ReaderFigures figures() {
        ReadCounts data = output.files().data().counts();
        ReadCounts index = output.files().isSingle() ? null : output.files().index().counts();
        DeliveredBlocks delivered = output.delivered();
        return new ReaderFigures(data.reads() + (index == null ? 0 : index.reads()),
                data.bytes() + (index == null ? 0 : index.bytes()), delivered.blocks(), delivered.plainBytes(),
                delivered.storedBytes(), output.regions().read(), output.regions().cached(),
                data.nanos() + (index == null ? 0 : index.nanos()), memoryUsed(), output.memoryRefusals());
    }

    /** Closes the files. A cursor that is still open fails with {@code io} when it next reads a file. */
    @Override
    public void close() throws FaroException {
        output.close();
    }
}
