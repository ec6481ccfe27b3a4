package dev.faro.repair;

/**
 * What {@link Recover} did, or would do (PUB-8).
 *
 * @param action what it came to
 * @param fileId the first 8 hexadecimal digits of the output's file_id; null with {@code NOTHING} and
 *     {@code NOTHING_SAVED}
 * @param regions of the output afterwards; 0 with {@code NOTHING_SAVED}
 */
public record RecoverReport(Action action, String fileId, int regions) {
    /** What a recovery came to. */
    public enum Action {
        /** The output is finished and opens. */
        NOTHING,
        /** There are files, and none from which anything could be saved. */
        NOTHING_SAVED,
        /** It ends at its last committed region now. */
        LAST_COMMIT,
        /** It has a new index. */
        REBUILT,
        /** It was whole, and has its final names now. */
        PUBLISHED
    }
}
