package dev.faro.scheduler;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.internal.storage.InputFile;
import java.io.InterruptedIOException;

/**
 * Exceptions of callbacks, collected while other callbacks are still to be called: the first, with the others
 * suppressed.
 */
final class Failures {
    private Throwable first;

    void add(Throwable failure) {
        if (first == null) {
            first = failure;
        } else {
            suppress(first, failure);
        }
    }

    /** Throws the first, whatever its type: a callback may throw an exception that it does not declare. */
    void rethrow() {
        if (first != null) {
            Failures.<RuntimeException>throwAny(first);
        }
    }

    /** Adds the exceptions to one that is thrown instead. */
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

    /** The fault of a reading that ends because something else than the file failed. */
    static FaroException ofReading(InputFile file, String wanted, Throwable cause) {
        return file.io(wanted, cause);
    }

    /**
     * Whether an error of this thread tells of an interrupt, which is not a fault of the file. A timeout of a network
     * can have an exception of the same class.
     */
    static boolean isInterrupt(FaroException e) {
        return e.code() == ErrorCode.IO && e.getCause() instanceof InterruptedIOException
                && Thread.currentThread().isInterrupted();
    }
}
