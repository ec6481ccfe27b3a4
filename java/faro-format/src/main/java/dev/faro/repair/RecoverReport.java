package dev.faro.repair;

/**
 * The result of {@link Recover}: what it did or, in a dry run, would do (PUB-8).
 *
 * @param action the outcome
 * @param fileId the first 8 hexadecimal digits of the output's file_id; null with {@code NOTHING} and
 *     {@code NOTHING_SAVED}
 * @param regions the number of regions in the result; 0 with {@code NOTHING_SAVED}
 */
public record RecoverReport(Action action, String fileId, int regions) {
    /** The outcome of a recovery. */
    public enum Action {
        /** The output was finished already, and opens. */
        NOTHING,
        /** There are files, but nothing could be saved from them. */
        NOTHING_SAVED,
        /** The output now ends at its last committed region. */
        LAST_COMMIT,
        /** The output has a new index. */
        REBUILT,
        /** The output was complete, and now has its final names. */
        PUBLISHED
    }
}
