package dev.faro.bench;

/**
 * The outcome of one repetition of a subject.
 *
 * @param nanos the time that it took
 * @param storedBytes the size of the files without the index; 0 if that has no meaning
 * @param indexBytes the size of the index; 0 if there is none
 * @param files the number of files
 */
public record Outcome(long nanos, long storedBytes, long indexBytes, int files) {}
