package dev.faro.merge;

/**
 * One push of a {@link PushPlan}, of a range of partitions.
 *
 * @param merger the number of the merger that gets it
 * @param firstPartition the first partition of the range
 * @param partitionCount how many partitions the range has
 * @param bytes the bytes of these partitions in the output
 */
public record PlannedPush(int merger, int firstPartition, int partitionCount, long bytes) {}
