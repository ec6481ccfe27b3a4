package dev.faro.internal.storage;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Waits repeatedly for something that another program or thread holds, until a time limit (PUB-5). */
public final class Patience {
    /** The time limit of a writer. */
    public static final Duration MOST = Duration.ofSeconds(60);

    private static final long LONGEST_MOMENT = 20_000_000;

    private final Duration limit;
    private final long end;
    private long moment = LONGEST_MOMENT / 64;

    /** Starts the time. */
    public Patience(Duration limit) {
        this.limit = limit;
        this.end = System.nanoTime() + limit.toNanos();
    }

    /**
     * Waits a moment.
     *
     * @param what what this waits for, for the error
     * @throws InterruptedIOException if the thread is interrupted; it stays interrupted
     * @throws IOException if the time limit is reached
     */
    public void await(String what) throws IOException {
        if (System.nanoTime() - end >= 0) {
            throw new IOException(what + " was not free within " + limit.toMillis() / 1000.0 + " seconds; try again");
        }
        // Waiters draw different times, so that they do not all return at once.
        long nanoseconds = moment / 2 + ThreadLocalRandom.current().nextLong(moment);
        moment = Math.min(2 * moment, LONGEST_MOMENT);
        try {
            Thread.sleep(nanoseconds / 1_000_000, (int) (nanoseconds % 1_000_000));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            InterruptedIOException interrupted = new InterruptedIOException("the thread was interrupted");
            interrupted.initCause(e);
            throw interrupted;
        }
    }
}
