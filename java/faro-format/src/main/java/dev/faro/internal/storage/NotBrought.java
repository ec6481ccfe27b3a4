package dev.faro.internal.storage;

import dev.faro.storage.Wanted;
import java.io.IOException;
import java.util.List;

/** A read of bytes that the caller has to bring first. The call that failed can be repeated then. */
public final class NotBrought extends IOException {
    private static final long serialVersionUID = 1;

    private final transient List<Wanted> wanted;

    /** Makes the exception. It has no stack trace, because it is thrown often and is not a failure. */
    public NotBrought(List<Wanted> wanted) {
        this.wanted = List.copyOf(wanted);
    }

    @Override
    public String getMessage() {
        return "bytes that were not brought";
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }

    /** The bytes whose absence led to an error; empty if it has another cause. */
    public static List<Wanted> wantedBy(Throwable error) {
        Throwable cause = error;
        while (cause != null && !(cause instanceof NotBrought)) {
            cause = cause.getCause();
        }
        return cause instanceof NotBrought missed && missed.wanted != null ? missed.wanted : List.of();
    }
}
