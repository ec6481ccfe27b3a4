package dev.faro.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import org.junit.jupiter.api.function.Executable;

/** Calls that have to fail. */
public final class Errors {
    private Errors() {}

    /** Makes a call that has to fail with a code, and returns the error. */
    public static FaroException expect(ErrorCode code, Executable call) {
        FaroException e = assertThrows(FaroException.class, call);
        assertEquals(code, e.code(), e.getMessage());
        return e;
    }
}
