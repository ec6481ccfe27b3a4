package dev.faro.index;

/**
 * The blocks of one producer in one own extent of a merged file (REG-8).
 *
 * @param producer the producer's number, an unsigned 64-bit value
 * @param attempt its attempt, an unsigned 64-bit value
 * @param firstBlock the number of the first block among those that the partition reads from the producer's output
 *     (FRG-1)
 * @param blocks the number of blocks
 * @param length the size of the blocks in bytes, with headers and padding
 * @param last whether the producer has no further block for the partition
 */
public record Run(long producer, long attempt, long firstBlock, long blocks, long length, boolean last) {}
