package dev.faro.spark.merge;

import java.util.concurrent.Executor;

/**
 * What all merges of a service share.
 *
 * @param chunkSize the least size of a chunk, in bytes
 * @param outputs the merged files that are served
 * @param recent the merges that keep their buffers
 * @param cleaner removes files, which must not hold up the threads that serve
 */
record MergeSettings(long chunkSize, OpenOutputs outputs, RecentMerges recent, Executor cleaner) {}
