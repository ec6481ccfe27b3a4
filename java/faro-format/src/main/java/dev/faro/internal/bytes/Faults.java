package dev.faro.internal.bytes;

import dev.faro.ErrorCode;
import dev.faro.FaroException;

/** Makes faults of one file, with its role and path (ERR-2). */
public interface Faults {
    /**
     * Makes a fault of this file.
     *
     * @param offset in bytes from the beginning of the file
     * @param expected what a valid file has there
     * @param found what this file has there
     */
    FaroException fault(ErrorCode code, long offset, String expected, Object found);
}
