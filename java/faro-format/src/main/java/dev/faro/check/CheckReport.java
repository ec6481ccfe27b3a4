package dev.faro.check;

/**
 * What a check found in an output without a fault.
 *
 * @param regions of the output
 * @param blocks partition blocks of the output; -1 at level {@link CheckLevel#STRUCTURE}
 */
public record CheckReport(int regions, long blocks) {}
