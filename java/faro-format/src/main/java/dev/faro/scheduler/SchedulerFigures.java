package dev.faro.scheduler;

/**
 * What a scheduler has read so far.
 *
 * @param reads the number of reads
 * @param readBytes the number of bytes that were read
 * @param gapBytes the number of these that no consumer had requested
 * @param requests the number of requests that were served
 * @param seekBytes the sum of the distances between the end of each read of a file and the beginning of the next
 * @param mostHeldBytes the largest number of bytes that were held at once: read and not taken
 */
public record SchedulerFigures(
        long reads, long readBytes, long gapBytes, long requests, long seekBytes, long mostHeldBytes) {}
