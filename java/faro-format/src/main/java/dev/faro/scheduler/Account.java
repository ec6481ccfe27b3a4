package dev.faro.scheduler;

import dev.faro.plan.Sweep;
import dev.faro.reader.Feed;

/** The state of one consumer in its scheduler. The scheduler's lock guards the fields that change. */
final class Account {
    final FileSweep<Account> file;
    final Feed feed;
    private final Runnable news;
    Sweep.Request<Account> request;
    /** Whether the consumer is hungry, has a request, or has a read in progress. */
    boolean outstanding;
    /** The size of the data that was read for the consumer and not taken, in bytes; with a budget, of its memory. */
    long held;
    /** The memory in buffers for the consumer, also of reads in progress; see {@link Grants}. In bytes. */
    long used;
    /** By how much its request would grow the sum of all claims, in bytes. */
    long wanted;
    boolean planEnded;
    /** Whether the consumer has a share of the budget, and the least memory: until it is closed or its reading ends. */
    boolean counted = true;
    volatile boolean closed;

    /**
     * Makes the account of an open consumer.
     *
     * @param news tells the consumer that bytes arrived, or the end; called without the lock
     */
    Account(FileSweep<Account> file, Feed feed, Runnable news) {
        this.file = file;
        this.feed = feed;
        this.news = news;
    }

    /** Tells the consumer that bytes arrived, or the end; called without the lock. */
    void tell() {
        news.run();
    }
}
