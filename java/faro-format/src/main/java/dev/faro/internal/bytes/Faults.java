package dev.faro.internal.bytes;

import dev.faro.ErrorCode;
import dev.faro.FaroException;

/** Makes the faults of one file, whose role and path it knows (ERR-2). */
public interface Faults {
    /**
     * A fault of this file.
     *
     * @param offset in bytes from the beginning of the file
     * @param expected what a valid file has there
     * @param found what this file has there
     */
    FaroException fault(ErrorCode code, long offset, String expected, Object found);
}
