package dev.faro.internal.index;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Limits;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.Context;
import dev.faro.internal.block.Dictionaries;
import dev.faro.internal.message.Directory;
import dev.faro.internal.storage.InputFile;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;

/**
 * The regions of a file. Each is read at its first use, and kept in a cache of limited size. Safe to share between
 * threads.
 */
public final class Regions {
    private final InputFile file;
    private final FileHeader header;
    private final Limits limits;
    private final RegionStore store;
    private final LongAdder read = new LongAdder();
    private final LongAdder cached = new LongAdder();
    private volatile boolean closed;

    /**
     * Makes the regions of an index file or single file.
     *
     * @param store keeps regions, perhaps also of other files
     */
    public Regions(InputFile file, FileHeader header, Limits limits, RegionStore store) {
        this.file = file;
        this.header = header;
        this.limits = limits;
        this.store = store;
    }

    /** The header of the file. */
    public FileHeader header() {
        return header;
    }

    /**
     * Returns one region, checked by REG-10 unless it is in the cache.
     *
     * @throws FaroException the first check that fails, {@code truncated} or {@code io}
     */
    public RegionIndex get(Directory directory, int number) throws FaroException {
        RegionIndex known = store.get(this, number);
        if (known != null) {
            cached.increment();
            return known;
        }
        RegionIndex region = load(directory, number);
        read.increment();
        store.put(this, number, region, () -> closed);
        return region;
    }

    /** Whether a region is in the cache now. */
    public boolean isCached(int number) {
        return store.has(this, number);
    }

    /**
     * Puts a region into the cache, if there is room, whose message the caller has in memory.
     *
     * @param message little-endian, read from 0 to its limit; the region keeps it
     * @throws FaroException the first check of REG-10 that fails
     */
    public void offer(Directory directory, int number, ByteBuffer message) throws FaroException {
        // A message that is too large is refused when it is read.
        if (!store.hasRoom(message.capacity()) || message.limit() > limits.maxMessageSize()) {
            return;
        }
        RegionIndex region = RegionIndex.parse(message, header, expected(directory, number), file,
                directory.messageOffset(number) + BlockHeader.SIZE);
        store.put(this, number, region, () -> closed);
    }

    private static RegionIndex.Expected expected(Directory directory, int number) {
        return new RegionIndex.Expected(number, directory.dataOffset(number), directory.dataLength(number));
    }

    private RegionIndex load(Directory directory, int number) throws FaroException {
        long offset = directory.messageOffset(number);
        long size = directory.messageSize(number) & 0xFFFFFFFFL;
        long end = offset + BlockHeader.sizeInFile(size);
        BlockReader reader = BlockReader.ofMetadata(file, header.fileId(), limits)
                .with(header.hasDictionaries() ? Dictionaries.counted(() -> 0) : null);
        reader.read(offset, end, end, Context.REGION, BlockHeader.NO_PARTITION, BlockReader.ANY_SEQUENCE);
        if (reader.storedSize() != size) {
            throw reader.fault(ErrorCode.INCONSISTENT_INDEX, 0, "a message of " + size + " bytes",
                    reader.storedSize());
        }
        return RegionIndex.parse(
                reader.message(), header, expected(directory, number), file, offset + BlockHeader.SIZE);
    }

    /** The number of regions that were read. */
    public long read() {
        return read.sum();
    }

    /** The number of regions that the cache had. */
    public long cached() {
        return cached.sum();
    }

    /** The size of the regions that are kept, in bytes. */
    public long memory() {
        return store.memory(this);
    }

    /** Forgets the regions, and keeps no others. */
    public void close() {
        closed = true;
        store.removeAll(this);
    }
}
