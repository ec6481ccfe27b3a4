package dev.faro.index;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.Limits;
import dev.faro.block.BlockReader;
import dev.faro.block.Dictionaries;
import dev.faro.block.Context;
import dev.faro.file.InputFile;
import dev.faro.header.FileHeader;
import dev.faro.message.Directory;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** The regions of a file, read when first used and kept in a cache bounded by bytes. Safe to share between threads. */
public final class Regions {
    private final InputFile file;
    private final FileHeader header;
    private final Limits limits;
    private final long cacheBytes;
    private final Map<Integer, Region> cache = new LinkedHashMap<>(16, 0.75f, true);
    private long cached;

    /**
     * The regions of an index or single file.
     *
     * @param cacheBytes bytes of region messages that are kept at most
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
     * One region, checked by REG-10 when it is not in the cache.
     *
     * @throws FaroException the first check that fails, {@code truncated} or {@code io}
     */
    public Region get(Directory directory, int number) throws FaroException {
        synchronized (cache) {
            Region region = cache.get(number);
            if (region != null) {
                return region;
            }
        }
        Region region = load(directory, number);
        keep(number, region);
        return region;
    }

    private Region load(Directory directory, int number) throws FaroException {
        long offset = directory.messageOffset(number);
        long size = directory.messageSize(number) & 0xFFFFFFFFL;
        long end = offset + BlockReader.sizeInFile(size);
        BlockReader reader = BlockReader.ofMetadata(file, header.fileId(), limits)
                .with(header.hasDictionaries() ? Dictionaries.counted(() -> 0) : null);
        reader.read(offset, end, end, Context.REGION, BlockReader.NO_PARTITION, BlockReader.ANY_SEQUENCE);
        if (reader.storedSize() != size) {
            throw reader.fault(ErrorCode.INCONSISTENT_INDEX, 0, "a message of " + size + " bytes",
                    reader.storedSize());
        }
        Region.Expected expected =
                new Region.Expected(number, directory.dataOffset(number), directory.dataLength(number));
        return Region.parse(reader.message(), header, expected, file, offset + BlockReader.HEADER);
    }

    private void keep(int number, Region region) {
        long size = region.memory();
        if (size > cacheBytes) {
            return;
        }
        synchronized (cache) {
            if (cache.put(number, region) == null) {
                cached += size;
            }
            Iterator<Region> eldest = cache.values().iterator();
            while (cached > cacheBytes) {
                cached -= eldest.next().memory();
                eldest.remove();
            }
        }
    }
}
