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
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The regions of a file. Each is read at its first use, and kept in a cache of limited size. Safe to share between
 * threads.
 */
public final class Regions {
    private final InputFile file;
    private final FileHeader header;
    private final Limits limits;
    private final long cacheBytes;
    private final Map<Integer, RegionIndex> cache = new LinkedHashMap<>(16, 0.75f, true);
    private long cached;

    /**
     * Makes the regions of an index file or single file.
     *
     * @param cacheBytes the maximum size of the region messages that are kept, in bytes
     */
    public Regions(InputFile file, FileHeader header, Limits limits, long cacheBytes) {
        this.file = file;
        this.header = header;
        this.limits = limits;
        this.cacheBytes = cacheBytes;
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
        synchronized (cache) {
            RegionIndex region = cache.get(number);
            if (region != null) {
                return region;
            }
        }
        RegionIndex region = load(directory, number);
        keep(number, region);
        return region;
    }

    /**
     * Puts a region into the cache, if there is room, whose message the caller has in memory.
     *
     * @param message little-endian, read from 0 to its limit; the region keeps it
     * @throws FaroException the first check of REG-10 that fails
     */
    public void offer(Directory directory, int number, ByteBuffer message) throws FaroException {
        synchronized (cache) {
            // A message that is too large is refused when it is read.
            if (cached + message.capacity() > cacheBytes || message.limit() > limits.maxMessageSize()) {
                return;
            }
        }
        keep(number, RegionIndex.parse(message, header, expected(directory, number), file,
                directory.messageOffset(number) + BlockHeader.SIZE));
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

    private void keep(int number, RegionIndex region) {
        long size = region.memory();
        if (size > cacheBytes) {
            return;
        }
        synchronized (cache) {
            if (cache.put(number, region) == null) {
                cached += size;
            }
            Iterator<RegionIndex> eldest = cache.values().iterator();
            while (cached > cacheBytes) {
                cached -= eldest.next().memory();
                eldest.remove();
            }
        }
    }
}
