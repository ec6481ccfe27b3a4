package dev.faro.repair;

import java.util.List;

/**
 * What a repair did, or would do (REP-8).
 *
 * @param action what it came to
 * @param regions of the output afterwards
 * @param blocks partition blocks that {@code rebuild} accepted, else -1
 * @param dataKept bytes of the data file that are kept; 0 for a single file
 * @param dataCut bytes cut off the data file; 0 for a single file
 * @param indexKept bytes of the index or single file that are kept, new footer and tail not counted
 * @param indexCut bytes cut off the index or single file
 * @param orphaned shared blocks that {@code rebuild} left without members
 * @param lost what can never be recovered from a data file alone
 */
public record RepairReport(
        Action action,
        int regions,
        long blocks,
        long dataKept,
        long dataCut,
        long indexKept,
        long indexCut,
        long orphaned,
        List<String> lost) {
    /** What a repair came to. */
    public enum Action {
        /** The output is finished and opens. */
        NOTHING,
        /** It ends at its last committed region now. */
        LAST_COMMIT,
        /** It has a new index. */
        REBUILT
    }
}
