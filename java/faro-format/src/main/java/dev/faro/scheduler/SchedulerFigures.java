package dev.faro.scheduler;

/**
 * What a scheduler has read so far.
 *
 * @param reads the number of reads
 * @param bytesRead the number of bytes that were read
 * @param gapBytes the number of these that no consumer had requested
 * @param requests the number of requests that were served
 * @param seekBytes the sum of the distances between the end of each read of a file and the beginning of the next
 * @param heldBytes the number of bytes that are held now: read, or being read, and not taken. With a
 *     {@link SchedulerOptions#memoryBudget}, the size of the buffers for them
 * @param mostHeldBytes the largest number of bytes that were held at once
 * @param waits how often a consumer polled and had nothing yet
 * @param memoryRefusals how often the {@link SchedulerOptions#memoryBudget} refused memory
 */
public record SchedulerFigures(
        long reads, long bytesRead, long gapBytes, long requests, long seekBytes, long heldBytes, long mostHeldBytes,
        long waits, long memoryRefusals) {}
