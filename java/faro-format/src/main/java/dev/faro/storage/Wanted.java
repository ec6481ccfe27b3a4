package dev.faro.storage;

import dev.faro.FileRole;
import java.util.Objects;

/**
 * Bytes of a file that a caller has to bring, for example to {@link dev.faro.reader.Opening}.
 *
 * @param role which file of the output
 * @param offset the offset of the first byte; {@link #FROM_END} for the last bytes of a file of unknown size
 * @param length the number of bytes. A file that is shorter has fewer, which are enough
 */
public record Wanted(FileRole role, long offset, long length) {
    /** The {@link #offset} of bytes that end where the file ends. */
    public static final long FROM_END = -1;

    /** Checks that there is a role. */
    public Wanted {
        Objects.requireNonNull(role, "role");
    }

    /** Whether these are the last bytes of the file. */
    public boolean isFromEnd() {
        return offset == FROM_END;
    }
}
