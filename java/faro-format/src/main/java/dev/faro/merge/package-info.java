/**
 * Fragments and merged files: the blocks of many producers in one file, exactly once, with the producer of each block
 * (FRG, MRG, NAM).
 *
 * <p>A producer writes a {@linkplain dev.faro.merge.Fragments fragment} of its output. A service checks it while it
 * arrives and appends it to a merged file: {@link dev.faro.merge.Merge}. A reader of that file asks
 * {@link dev.faro.merge.Provenance} what it has, and gets from the producers' own outputs only what is missing:
 * {@link dev.faro.merge.MergedCursor}. For everything else a merged file is an output like any other.
 */
package dev.faro.merge;
