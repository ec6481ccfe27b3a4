package dev.faro.merge;

/**
 * What a merged file has of one producer in a partition: the blocks with the numbers below {@code blocks} (MRG-11).
 *
 * @param producer the producer's number, an unsigned 64-bit value
 * @param attempt its attempt, an unsigned 64-bit value
 * @param blocks how many blocks there are
 * @param complete whether the producer has no further block for the partition
 */
public record Have(long producer, long attempt, long blocks, boolean complete) {}
