package dev.faro.scheduler;

/**
 * What a scheduler has read so far.
 *
 * @param reads stretches that were read
 * @param bytes of them
 * @param gapBytes of them that no consumer had requested
 * @param requests that were served
 * @param seekBytes the sum of the distances between the end of one read of a file and the beginning of its next
 * @param mostHeld the most bytes that were held at once, read and not taken
 */
public record SchedulerStatistics(
        long reads, long bytes, long gapBytes, long requests, long seekBytes, long mostHeld) {}
