package dev.faro.scheduler;

import dev.faro.plan.Sweep;
import dev.faro.reader.Feed;

/** What a scheduler knows of one consumer. The fields that change are guarded by the scheduler's lock. */
final class Account {
    final FileSweep<Account> file;
    final Feed feed;
    private final Runnable news;
    Sweep.Request<Account> request;
    /** Whether it is hungry, has a request, or is being read for. */
    boolean outstanding;
    /** Bytes that were read for it and not taken. */
    long held;
    boolean planEnded;
    /** Whether it has a share of the budget. */
    boolean counted = true;
    volatile boolean closed;

    /**
     * The account of a consumer that is open.
     *
     * @param news tells the consumer that bytes came, or the end; called without the lock
     */
    Account(FileSweep<Account> file, Feed feed, Runnable news) {
        this.file = file;
        this.feed = feed;
        this.news = news;
    }

    /** Tells the consumer that bytes came, or the end; called without the lock. */
    void tell() {
        news.run();
    }
}
