package dev.faro.merge;

/**
 * A producer that a merged file does not have completely in a partition (MRG-11).
 *
 * @param producer the producer's number, an unsigned 64-bit value
 * @param attempt the attempt that is expected
 * @param from the number of the first block that the file does not have
 */
public record Missing(long producer, long attempt, long from) {}
