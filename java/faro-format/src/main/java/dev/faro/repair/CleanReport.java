package dev.faro.repair;

import java.util.List;

/**
 * What {@link Clean} did, or would do (PUB-9); both lists by name, ascending.
 *
 * @param removed names of files in the folder
 * @param kept those that look like a dead writer's, and were kept
 */
public record CleanReport(List<String> removed, List<Kept> kept) {
    /** A file that was kept. */
    public record Kept(String name, Reason reason) {}

    /** Why a file was kept. */
    public enum Reason {
        /** Its writer lives. */
        LIVING,
        /** It was changed a short time ago. */
        YOUNG
    }
}
