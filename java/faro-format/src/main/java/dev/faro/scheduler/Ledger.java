package dev.faro.scheduler;

import dev.faro.FaroException;
import dev.faro.plan.Sweep;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The shares of a scheduler's budget, and the files with work. Its monitor is the scheduler's lock: callers of methods
 * that are not synchronized hold it.
 */
final class Ledger {
    /** Requests are not cut below this size, however many consumers there are; in bytes. */
    private static final long MIN_REQUEST = SchedulerOptions.MIN_SIZE;

    private final SchedulerOptions options;
    final Grants grants;
    /** Files that are waiting to be served. */
    final ArrayDeque<FileSweep<Account>> ready = new ArrayDeque<>();
    private final List<FileSweep<Account>> starved = new ArrayList<>();
    /** The number of times that memory may have become available. */
    long wakes;
    /** The number of consumers that share the budget. */
    int counted;
    /** The number of bytes that were read, or are being read, and were not taken; with a budget, of their memory. */
    long held;
    /** The maximum of {@link #held} so far. */
    long mostHeld;

    Ledger(SchedulerOptions options, Grants grants) {
        this.options = options;
        this.grants = grants;
    }

    /** The number of bytes that each consumer may hold. */
    private long share() {
        return options.budgetBytes() / Math.max(1, counted);
    }

    /**
     * Arranges that a consumer's next request is planned, if the consumer has room. Returns whether another task must
     * run.
     */
    boolean feedLater(Account consumer) {
        boolean room = consumer.held == 0 || consumer.held <= share() / 2;
        if (consumer.closed || consumer.outstanding || consumer.planEnded || !room) {
            return false;
        }
        consumer.outstanding = true;
        consumer.file.hungry.add(consumer);
        return signal(consumer.file);
    }

    /**
     * Notes that a consumer wants nothing until its output has more regions.
     *
     * @param grown whether it may have more already
     */
    void rest(Account consumer, boolean grown) {
        consumer.outstanding = false;
        if (grown) {
            feedLater(consumer);
        }
    }

    /**
     * Ends the reading of a consumer.
     *
     * @param fault null if there is nothing more to read
     */
    void end(Account consumer, FaroException fault) {
        consumer.planEnded = true;
        consumer.outstanding = false;
        dropRequest(consumer);
        if (fault != null) {
            consumer.feed.endWith(fault);
        }
    }

    /** Removes the consumer's request, if there is one. */
    void dropRequest(Account consumer) {
        if (consumer.request != null) {
            consumer.file.sweep.remove(consumer.request);
            setRequest(consumer, null);
        }
    }

    /** Sets what is wanted for a consumer, or null for nothing. */
    void setRequest(Account consumer, Sweep.Request<Account> request) {
        consumer.request = request;
        grants.want(consumer, request == null ? 0 : request.bytes());
    }

    /** Bytes that were reserved or held for a consumer are free again. */
    void free(Account consumer, long bytes) {
        long size = grants.size(bytes);
        held -= size;
        grants.use(consumer, -size);
    }

    /**
     * Clears the list of files to serve, so that the next {@link #signal} asks for a task again. Returns the files that
     * were in it.
     */
    List<FileSweep<Account>> forgetReady() {
        List<FileSweep<Account>> forgotten = new ArrayList<>(ready);
        for (FileSweep<Account> file : forgotten) {
            file.hungry.clear();
            file.queued = false;
            file.hasNewWork = false;
        }
        ready.clear();
        return forgotten;
    }

    /** Arranges that a file is served. Returns whether another task must run. */
    boolean signal(FileSweep<Account> file) {
        if (file.queued) {
            file.hasNewWork = true;
            return false;
        }
        file.queued = true;
        ready.add(file);
        return true;
    }

    /** The maximum size of a consumer's next request, in bytes. */
    synchronized long mostOf(Account consumer) {
        return Math.min(options.readBytes(), Math.max(MIN_REQUEST, share() - consumer.held));
    }

    /** Chooses the next read of a file, and reserves its bytes; null if there are no requests, or no room. */
    synchronized Sweep.Read<Account> choose(FileSweep<Account> file) {
        Sweep.Request<Account> first = file.sweep.first();
        if (first == null) {
            return null;
        }
        long room = options.budgetBytes() - held;
        if (first.bytes() > room && held > 0) {
            return chooseLeast(file);
        }
        if (!grants.asks()) {
            return reserve(file.sweep.next(room));
        }
        long free = grants.free();
        if (grants.extra(first.owner(), first.bytes()) > free) {
            long fits = grants.fits(first.owner());
            return fits > 0 ? cut(file, first, fits) : chooseLeast(file);
        }
        return reserve(file.sweep.next(
                Math.min(room, free), request -> grants.extra(request.owner(), request.bytes())));
    }

    /**
     * Chooses a small read for a consumer that holds nothing, although there is no room. Otherwise two tasks that read
     * the same two files in a different order could wait for each other: each would take nothing from one file before
     * it gets on with the other.
     */
    private Sweep.Read<Account> chooseLeast(FileSweep<Account> file) {
        Sweep.Request<Account> request = file.sweep.first(
                consumer -> consumer.held == 0 && (!grants.asks() || grants.fits(consumer) > 0));
        if (request == null) {
            starve(file);
            return null;
        }
        return cut(file, request, MIN_REQUEST);
    }

    /** Makes the first bytes of a request the next read. */
    private Sweep.Read<Account> cut(FileSweep<Account> file, Sweep.Request<Account> request, long bytes) {
        Sweep.Read<Account> read = reserve(file.sweep.beginning(request, bytes));
        if (read.end() < request.end()) {
            setRequest(request.owner(), file.sweep.add(request.owner(), read.end(), request.end()));
        }
        return read;
    }

    private Sweep.Read<Account> reserve(Sweep.Read<Account> read) {
        for (Sweep.Request<Account> request : read.requests()) {
            long size = grants.size(request.bytes());
            setRequest(request.owner(), null);
            grants.use(request.owner(), size);
            held += size;
        }
        mostHeld = Math.max(mostHeld, held);
        return read;
    }

    /** Arranges that a file waits until there is room. */
    void starve(FileSweep<Account> file) {
        if (!file.starved) {
            file.starved = true;
            starved.add(file);
        }
    }

    /** Puts back requests that were not served. Their consumers may have been closed meanwhile. */
    synchronized void putBack(FileSweep<Account> file, List<Sweep.Request<Account>> requests) {
        for (Sweep.Request<Account> request : requests) {
            Account owner = request.owner();
            free(owner, request.bytes());
            if (owner.closed) {
                continue;
            }
            if (owner.request == null) {
                setRequest(owner, request);
                file.sweep.putBack(request);
            } else {
                // The request was the first part of the consumer's new one.
                file.sweep.remove(owner.request);
                setRequest(owner, file.sweep.add(owner, request.start(), owner.request.end()));
            }
        }
    }

    /** Arranges that files that were waiting for room are served. Returns whether tasks must run. */
    synchronized boolean wakeStarved() {
        boolean run = false;
        for (FileSweep<Account> file : starved) {
            file.starved = false;
            run |= signal(file);
        }
        starved.clear();
        return run;
    }
}
