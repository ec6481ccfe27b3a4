package dev.faro.reader;

/**
 * What a reader has read so far, and what it holds. Blocks are counted when their cursor ends, fails or is closed, and
 * after each thousand of them.
 *
 * @param reads the number of requests to the storage: calls of {@link dev.faro.storage.StoredFile#read} and
 *     {@link dev.faro.storage.StoredFile#readRanges}
 * @param bytesRead the number of bytes that these returned
 * @param blocks the number of partition blocks that were delivered; a shared block counts each time
 * @param plainBytes the size of their plain payloads
 * @param storedBytes the size of their stored payloads
 * @param regionsRead the number of region messages that were read and checked
 * @param regionsCached the number of times that the cache had the region
 * @param readNanos the time in requests to the storage, of all threads together, in nanoseconds
 * @param memoryUsed what {@link PartitionReader#memoryUsed} returns
 * @param memoryRefusals how often the {@link ReaderOptions#memoryBudget} refused memory
 */
public record ReaderFigures(long reads, long bytesRead, long blocks, long plainBytes, long storedBytes,
        long regionsRead, long regionsCached, long readNanos, long memoryUsed,
        long memoryRefusals) {}
