package dev.faro.spark.merge;

/**
 * What all merges of a service share.
 *
 * @param chunkSize the least size of a chunk, in bytes
 * @param outputs the merged files that are served
 * @param recent the merges that keep their buffers
 */
record MergeSettings(long chunkSize, OpenOutputs outputs, RecentMerges recent) {}
