package dev.faro.reader;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Framing;
import dev.faro.index.Footer;
import dev.faro.index.Region;
import dev.faro.internal.index.DirectLookup;
import dev.faro.internal.index.FooterMessage;
import dev.faro.internal.message.Directory;
import dev.faro.internal.reader.ExtentReaders;
import dev.faro.internal.reader.OutputReader;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What can be read of an output, finished or growing: partitions, ranges of them, or everything. Reading is safe from
 * several threads at once; each cursor is for one thread. A thread that is interrupted while it reads, or before, gets
 * {@code io} with an {@link java.io.InterruptedIOException} as cause and stays interrupted; the others read on.
 */
public abstract class PartitionReader implements Closeable {
    private final OutputReader output;

    /** For the library's other packages, not for callers. */
    @SuppressWarnings("exports")
    protected PartitionReader(OutputReader output) {
        this.output = output;
    }

    /** For the library's other packages, not for callers: what they read this output by. */
    @SuppressWarnings("exports")
    public OutputReader output() {
        return output;
    }

    /** What the footer says, or null if a follower has not seen it yet. */
    public final Footer footer() {
        FooterMessage message = output.footer();
        return message == null ? null : message.footer();
    }

    /**
     * The encapsulated Arrow schema message, a new view that cannot be written; little-endian.
     *
     * @return null unless the framing is arrow
     */
    public final ByteBuffer schemaMessage() {
        ByteBuffer schema = output.schema();
        return schema == null ? null : schema.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The header of the index or single file. */
    public final FileHeader header() {
        return output.header();
    }

    /** Count of the committed regions. */
    public final int regionCount() {
        return output.directory().size();
    }

    /** Count of the dictionaries; those of a pair that a {@link dev.faro.follow.Follower} reads, before the committed regions. */
    public final int dictionaryCount() {
        return output.directory().dictionaryCount();
    }

    /** Where the block of a dictionary begins in the data or single file, by its number less 1. */
    public final long dictionaryOffset(int dictionary) {
        return output.directory().dictionaryOffset(dictionary);
    }

    /** Bytes of a dictionary, by its number less 1. */
    public final int dictionarySize(int dictionary) {
        return output.directory().dictionarySize(dictionary);
    }

    /**
     * One of the committed regions, checked by REG-10.
     *
     * @throws FaroException {@code invalid-argument} if there is no such region, or the check that fails
     */
    public final Region region(int number) throws FaroException {
        return output.region(number);
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
        output.checkPartition(partition);
        Directory directory = output.directory();
        if (firstRegion < 0 || firstRegion > directory.size()) {
            throw FaroException.invalidArgument("a region from 0 to " + directory.size(), firstRegion);
        }
        DirectLookup direct = output.directLookup();
        if (direct == null) {
            return cursor(directory, partition, partition + 1, firstRegion);
        }
        ExtentReaders.ExtentReader reader = output.readers().take();
        Extents extents = new LookedUpExtents(direct, reader.blocks(), header().selective(), partition, firstRegion);
        return new BlockCursor(output, reader, extents, firstRegion == 0);
    }

    /**
     * The blocks of the partitions from {@code from} to before {@code to}, region by region (PRT-5).
     *
     * @throws FaroException {@code invalid-argument} if the file does not have all of them
     */
    public final BlockCursor range(int from, int to) throws FaroException {
        output.checkRange(from, to);
        return cursor(output.directory(), from, to, 0);
    }

    /**
     * The blocks of the partitions from {@code from} to before {@code to}, one partition after another, each in the
     * order of {@link #partition} (PRT-7). Partitions are read together, as many as have 4 MiB in all regions; so this
     * takes few reads, where a cursor for each of many small partitions would take one for each region.
     *
     * @throws FaroException {@code invalid-argument} if the file does not have all of them
     */
    public final BlockCursor byPartition(int from, int to) throws FaroException {
        output.checkRange(from, to);
        ExtentReaders.ExtentReader reader = output.readers().take();
        return new BlockCursor(output, reader, new PartitionExtents(output, output.directory(), reader.blocks(), from, to), true);
    }

    private BlockCursor cursor(Directory directory, int from, int to, int firstRegion) {
        ExtentReaders.ExtentReader reader = output.readers().take();
        return new BlockCursor(output, reader,
                new RegionExtents(output.regions(), directory, reader.blocks(), from, to, firstRegion), firstRegion == 0);
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
        return output.storedBytes(partition);
    }

    /** Closes the files; cursors fail from then on. */
    @Override
    public void close() throws FaroException {
        output.close();
    }
}
