package dev.faro.merge;

import java.nio.file.Path;

/**
 * What a merge has made (MRG-10).
 *
 * @param data the data file
 * @param index the index file
 * @param regions the number of regions
 * @param runs the number of runs: pushes that were merged, each counted once for each partition
 */
public record MergeSummary(Path data, Path index, int regions, long runs) {}
