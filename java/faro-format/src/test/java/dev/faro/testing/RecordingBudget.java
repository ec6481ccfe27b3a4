package dev.faro.testing;

import dev.faro.MemoryBudget;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A budget with a limit that refuses, or fails at, single requests, and records what is wrong: more given back than was
 * granted, or a call that comes while the caller holds a lock.
 */
public final class RecordingBudget implements MemoryBudget {
    private final long limit;
    private final AtomicReference<Throwable> wrong = new AtomicReference<>();
    private int refused = -1;
    private boolean forGood;
    private int failing = -1;
    private boolean failingShrink;
    private int calls;
    private int shrinks;
    private int refusals;
    private long granted;
    private long most;
    private volatile Runnable question;

    public RecordingBudget(long limit) {
        this.limit = limit;
    }

    /** Refuses the request of this number, from 0 on. */
    public RecordingBudget refuse(int number) {
        refused = number;
        return this;
    }

    /** Refuses the request of this number and all later ones. */
    public RecordingBudget refuseFrom(int number) {
        forGood = true;
        return refuse(number);
    }

    /** Throws an exception at the request of this number. */
    public RecordingBudget fail(int number) {
        failing = number;
        return this;
    }

    /** Throws an exception when memory is given back for the time of this number; the memory is back nevertheless. */
    public RecordingBudget failShrink(int number) {
        failing = number;
        failingShrink = true;
        return this;
    }

    /** A question to the library that another thread asks during each call; it must not have to wait. */
    public RecordingBudget asks(Runnable asked) {
        question = asked;
        return this;
    }

    @Override
    public boolean tryGrow(long bytes) {
        ask();
        synchronized (this) {
            int call = calls++;
            check(bytes > 0, bytes + " bytes were asked for");
            if (call == failing && !failingShrink) {
                throw new IllegalStateException("drawn");
            }
            if (call == refused || forGood && call >= refused || granted + bytes > limit) {
                refusals++;
                return false;
            }
            granted += bytes;
            most = Math.max(most, granted);
            return true;
        }
    }

    @Override
    public void shrink(long bytes) {
        ask();
        synchronized (this) {
            int call = shrinks++;
            granted -= bytes;
            check(bytes > 0 && granted >= 0, bytes + " bytes were given back, which leaves " + granted);
            if (call == failing && failingShrink) {
                throw new IllegalStateException("drawn");
            }
        }
    }

    private void ask() {
        Runnable asked = question;
        if (asked == null) {
            return;
        }
        try {
            CompletableFuture.runAsync(asked, task -> new Thread(task).start()).get(10, TimeUnit.SECONDS);
        } catch (Exception e) {
            wrong.compareAndSet(null, new AssertionError("the budget was called with a lock", e));
        }
    }

    private void check(boolean holds, String what) {
        if (!holds) {
            wrong.compareAndSet(null, new AssertionError(what));
        }
    }

    public synchronized int calls() {
        return calls;
    }

    public synchronized int shrinks() {
        return shrinks;
    }

    public synchronized int refusals() {
        return refusals;
    }

    public synchronized long granted() {
        return granted;
    }

    public synchronized long most() {
        return most;
    }

    /** Checks that all is back, and that nothing was wrong. */
    public synchronized void checkEnd(String context) {
        if (wrong.get() != null) {
            throw new AssertionError(context, wrong.get());
        }
        if (granted != 0) {
            throw new AssertionError(context + ": " + granted + " bytes were not given back");
        }
    }
}
