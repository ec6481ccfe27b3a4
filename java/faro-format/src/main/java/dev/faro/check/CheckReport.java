package dev.faro.check;

/**
 * The result of a check that found no fault.
 *
 * @param regions the number of regions
 * @param blocks the number of partition blocks; -1 at level {@link CheckLevel#STRUCTURE}
 */
public record CheckReport(int regions, long blocks) {}
