package dev.faro.hybrid;

/**
 * What a hybrid store has done so far.
 *
 * @param regions the regions that were committed
 * @param bytes the size of their blocks in bytes
 * @param inMemory the bytes of these that are in memory now
 * @param written the bytes of blocks that were written to the files
 * @param fromMemory the bytes that consumers and spills took from memory
 * @param fromFiles the bytes that consumers read from the files
 */
public record HybridFigures(
        int regions, long bytes, long inMemory, long written, long fromMemory, long fromFiles) {}
