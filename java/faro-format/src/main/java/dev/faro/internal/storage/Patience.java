package dev.faro.internal.storage;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Waits a moment, again and again, for what another holds, until the time is out (PUB-5). */
public final class Patience {
    /** How long a writer waits at most. */
    public static final Duration MOST = Duration.ofSeconds(60);

    private static final long LONGEST = 20_000_000;

    private final Duration most;
    private final long end;
    private long moment = LONGEST / 64;

    /** Begins to wait. */
    public Patience(Duration most) {
        this.most = most;
        this.end = System.nanoTime() + most.toNanos();
    }

    /**
     * Waits a moment.
     *
     * @param what is waited for, for the error
     * @throws InterruptedIOException if the thread is interrupted, which it stays
     * @throws IOException if the time is out
     */
    public void await(String what) throws IOException {
        if (System.nanoTime() - end >= 0) {
            throw new IOException("another has " + what + " for " + most.toMillis() / 1000.0 + " seconds; try again");
        }
        // Of those who wait at the same time, not all come back at the same time.
        long nanoseconds = moment / 2 + ThreadLocalRandom.current().nextLong(moment);
        moment = Math.min(2 * moment, LONGEST);
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
