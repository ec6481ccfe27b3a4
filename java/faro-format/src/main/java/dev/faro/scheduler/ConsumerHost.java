package dev.faro.scheduler;

import dev.faro.FaroException;
import java.nio.ByteBuffer;

/** What a consumer needs of its scheduler. */
interface ConsumerHost {
    /** Whether tasks of an executor make the steps. */
    boolean hasExecutor();

    /** Makes a step, see {@link Scheduler#serve}. */
    boolean serve() throws FaroException;

    /** The consumer took what is in a buffer. */
    void taken(Account account, ByteBuffer buffer);

    /** The reading came to its end: the others get its share. */
    void ended(Account account);

    /** The reading failed: nothing more is brought. */
    void failed(Account account);

    /** Whether poll may say something else than that there is nothing yet. */
    boolean hasNews(Account account);

    /** What readings that still wait end with, or null while the scheduler goes on. */
    FaroException endOfAll();

    /** Takes the consumer's requests back; it gives back itself what it holds. Returns false if this was done before. */
    boolean leave(Account account);

    /** The consumer was closed and has given back what it held. */
    void left();
}
