package dev.faro.merge;

import java.util.Objects;
import java.util.UUID;

/**
 * The names of a shuffle (NAM-1).
 *
 * @param application the application
 * @param shuffle the shuffle, among those of the application
 */
public record Names(String application, String shuffle) {
    /** Names that are not null. */
    public Names {
        Objects.requireNonNull(application, "application");
        Objects.requireNonNull(shuffle, "shuffle");
    }

    /** The file_id of a producer's output. Producer and attempt are unsigned 64-bit values. */
    public UUID outputFileId(long producer, long attempt) {
        return FileIds.output(application, shuffle, producer, attempt);
    }
}
