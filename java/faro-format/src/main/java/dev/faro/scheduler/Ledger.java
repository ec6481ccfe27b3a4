package dev.faro.scheduler;

import dev.faro.FaroException;
import dev.faro.plan.Sweep;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Who holds how much of a scheduler's budget, and which files have something to do. Its monitor is the scheduler's
 * lock: whoever calls what is not synchronized holds it.
 */
final class Ledger {
    /** A request is not cut below this, however many consumers there are. */
    private static final long LEAST_REQUEST = SchedulerOptions.LEAST;

    private final SchedulerOptions options;
    /** Files that wait to be served. */
    final ArrayDeque<FileSweep<Account>> ready = new ArrayDeque<>();
    private final List<FileSweep<Account>> starved = new ArrayList<>();
    /** How often there may have been memory again. */
    long wakes;
    /** Consumers that share the budget. */
    int counted;
    /** Bytes that were read, or are being read, and not taken. */
    long held;
    /** The most that this has been. */
    long mostHeld;

    Ledger(SchedulerOptions options) {
        this.options = options;
    }

    /** Bytes that each consumer may hold. */
    private long share() {
        return options.budgetBytes() / Math.max(1, counted);
    }

    /** Has a consumer's next request planned, if it has room. Returns whether there is a task more to run. */
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
     * Ends what is read for a consumer.
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

    /** Takes back what a consumer still asks for. */
    void dropRequest(Account consumer) {
        if (consumer.request != null) {
            consumer.file.sweep.remove(consumer.request);
            consumer.request = null;
        }
    }

    /** Has no file served that waits for it, so that the next {@link #signal} asks for a task again. */
    void forgetReady() {
        for (FileSweep<Account> file : ready) {
            file.hungry.clear();
            file.queued = false;
            file.again = false;
        }
        ready.clear();
    }

    /** Has a file served. Returns whether there is a task more to run. */
    boolean signal(FileSweep<Account> file) {
        if (file.queued) {
            file.again = true;
            return false;
        }
        file.queued = true;
        ready.add(file);
        return true;
    }

    /** Bytes of a consumer's next request at most. */
    synchronized long mostOf(Account consumer) {
        return Math.min(options.readBytes(), Math.max(LEAST_REQUEST, share() - consumer.held));
    }

    /** Chooses what is read next of a file, and reserves its bytes; null if there is nothing, or no room. */
    synchronized Sweep.Read<Account> choose(FileSweep<Account> file) {
        Sweep.Request<Account> first = file.sweep.first();
        if (first == null) {
            return null;
        }
        long room = options.budgetBytes() - held;
        if (first.bytes() > room && held > 0) {
            return chooseLeast(file);
        }
        Sweep.Read<Account> read = file.sweep.next(room);
        reserve(read);
        return read;
    }

    /**
     * Where there is no room: the least for one who holds nothing. Those who hold the budget may take nothing before that
     * one went on, such as two tasks that read the same two files, each another first.
     */
    private Sweep.Read<Account> chooseLeast(FileSweep<Account> file) {
        Sweep.Request<Account> request = file.sweep.first(consumer -> consumer.held == 0);
        if (request == null) {
            starve(file);
            return null;
        }
        Sweep.Read<Account> read = file.sweep.beginning(request, LEAST_REQUEST);
        reserve(read);
        if (read.end() < request.end()) {
            request.owner().request = file.sweep.add(request.owner(), read.end(), request.end());
        }
        return read;
    }

    private void reserve(Sweep.Read<Account> read) {
        for (Sweep.Request<Account> request : read.requests()) {
            request.owner().request = null;
            held += request.bytes();
        }
        mostHeld = Math.max(mostHeld, held);
    }

    /** Has a file wait until there is room. */
    void starve(FileSweep<Account> file) {
        if (!file.starved) {
            file.starved = true;
            starved.add(file);
        }
    }

    /** Requests that were not served, of consumers that may have been closed meanwhile. */
    synchronized void putBack(FileSweep<Account> file, List<Sweep.Request<Account>> requests) {
        for (Sweep.Request<Account> request : requests) {
            held -= request.bytes();
            Account owner = request.owner();
            if (owner.closed) {
                continue;
            }
            if (owner.request == null) {
                owner.request = request;
                file.sweep.putBack(request);
            } else {
                // It was the beginning of this one.
                file.sweep.remove(owner.request);
                owner.request = file.sweep.add(owner, request.start(), owner.request.end());
            }
        }
    }

    /** Has the files served that wait for room. Returns whether there are tasks to run. */
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
