package dev.faro.merge;

/**
 * What a fragment has (FRG-6). Without blocks there is no fragment, and nothing was written.
 *
 * @param blocks the number of its partition blocks
 * @param length its bytes before the end block
 * @param last whether each partition that has a block in it has no further block in the output
 */
public record FragmentSummary(long blocks, long length, boolean last) {}
