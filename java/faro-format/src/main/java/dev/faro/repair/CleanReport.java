package dev.faro.repair;

import java.util.List;

/**
 * The result of {@link Clean}: what it did or, in a dry run, would do (PUB-9). Both lists are sorted by name.
 *
 * @param removed the names of the removed files
 * @param kept files that look like a dead writer's, but were kept
 */
public record CleanReport(List<String> removed, List<KeptFile> kept) {
    /** A file that was kept. */
    public record KeptFile(String name, KeptReason reason) {}

    /** Why a file was kept. */
    public enum KeptReason {
        /** The writer of the file lives. */
        LIVING,
        /** The file was changed too recently. */
        YOUNG
    }
}
