package dev.faro.merge;

import dev.faro.index.Run;

/**
 * A run of a partition, and where it is.
 *
 * @param region the number of its region
 * @param offset the offset of its first byte in the data file
 * @param run producer, attempt, and which blocks these are
 */
public record PlacedRun(int region, long offset, Run run) {}
