package dev.faro.scheduler;

import dev.faro.FaroException;
import java.nio.ByteBuffer;

/** The methods of a scheduler that its consumers call. */
interface ConsumerHost {
    /** Whether tasks of an executor make the steps. */
    boolean hasExecutor();

    /** A consumer polled, and had nothing yet. */
    void waits();

    /** Makes a step, as {@link Scheduler#serve} does. */
    boolean serve() throws FaroException;

    /** The consumer has taken the bytes in a buffer. */
    void taken(Account account, ByteBuffer buffer);

    /** The reading has ended: the other consumers get its share of the budget. Returns whether this is new. */
    boolean ended(Account account);

    /** The reading has failed: nothing more is read for it. */
    void failed(Account account);

    /** Whether a poll may return something else than {@code NOT_YET}. */
    boolean hasNews(Account account);

    /** The fault that ends waiting readings, or null while the scheduler works. */
    FaroException endOfAll();

    /**
     * Removes the consumer's requests. The consumer itself gives back what it holds. Returns false if this was done
     * before.
     */
    boolean leave(Account account);

    /** The consumer was closed, or its reading has ended, and it has given back what it held. */
    void left();
}
