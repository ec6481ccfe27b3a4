package dev.faro.bench;

/**
 * What one repetition of a subject did.
 *
 * @param nanos that it took
 * @param storedBytes on the disk without the index
 * @param indexBytes of the index, 0 if there is none
 * @param files count of the files
 */
public record Outcome(long nanos, long storedBytes, long indexBytes, int files) {}
