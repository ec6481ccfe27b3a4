package dev.faro.scheduler;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.internal.storage.InputFile;
import java.io.InterruptedIOException;

/** What callbacks threw while others were still to be called: the first of them, the others as suppressed ones. */
final class Failures {
    private Throwable first;

    void add(Throwable failure) {
        if (first == null) {
            first = failure;
        } else {
            suppress(first, failure);
        }
    }

    /** Throws the first, whatever its type: a callback may throw what it does not declare. */
    void rethrow() {
        if (first != null) {
            Failures.<RuntimeException>throwAny(first);
        }
    }

    /** Adds what failed to an exception that is thrown instead. */
    void suppressIn(Throwable thrown) {
        if (first != null) {
            suppress(thrown, first);
        }
    }

    private static void suppress(Throwable thrown, Throwable other) {
        // A callback may throw the same object twice.
        if (thrown != other) {
            thrown.addSuppressed(other);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void throwAny(Throwable failure) throws T {
        throw (T) failure;
    }

    /** What a reading ends with if something failed that is not a fault of the file. */
    static FaroException ofReading(InputFile file, String wanted, Throwable cause) {
        return FaroException.io(file.role(), file.path(), wanted, cause);
    }

    /** Whether an error says that a thread was interrupted, which is not a fault of the file. */
    static boolean isInterrupt(FaroException e) {
        return e.code() == ErrorCode.IO && e.getCause() instanceof InterruptedIOException;
    }
}
