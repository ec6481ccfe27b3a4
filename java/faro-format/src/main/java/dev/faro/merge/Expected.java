package dev.faro.merge;

/**
 * A producer that a reader of a merged file expects (MRG-11).
 *
 * @param producer the producer's number, an unsigned 64-bit value
 * @param attempt the attempt whose output counts, an unsigned 64-bit value
 */
public record Expected(long producer, long attempt) {}
