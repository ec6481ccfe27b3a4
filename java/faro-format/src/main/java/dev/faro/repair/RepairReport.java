package dev.faro.repair;

import dev.faro.FaroException;
import java.util.List;
import java.util.Optional;

/**
 * The result of a repair or a rebuild: what it did or, in a dry run, would do (REP-8).
 *
 * @param action the outcome
 * @param regions the number of regions in the result
 * @param blocks the number of partition blocks that {@code rebuild} accepted; -1 for a repair
 * @param dataKept bytes of the data file that are kept; 0 for a single file
 * @param dataCut bytes cut off the data file; 0 for a single file
 * @param indexKept bytes of the index file or single file that are kept, without the new footer and tail
 * @param indexCut bytes cut off the index file or single file
 * @param orphaned the number of shared blocks that {@code rebuild} left without members
 * @param fault the fault of the block at which {@code rebuild} ended its walk (REP-5); empty if the walk reached the
 *     end of the data file, and for a repair
 * @param lost what cannot be recovered from a data file alone
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
        Optional<FaroException> fault,
        List<String> lost) {
    /** The parts that are compared: faults with the same text are the same, as those of a dry run and a rebuild. */
    private List<Object> compared() {
        return List.of(action, regions, blocks, dataKept, dataCut, indexKept, indexCut, orphaned,
                fault.map(FaroException::getMessage), lost);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RepairReport report && compared().equals(report.compared());
    }

    @Override
    public int hashCode() {
        return compared().hashCode();
    }

    /** The outcome of a repair or a rebuild. */
    public enum Action {
        /** The output was finished already, and opens. */
        NOTHING,
        /** The output now ends at its last committed region. */
        LAST_COMMIT,
        /** The output has a new index. */
        REBUILT
    }
}
