package dev.faro.scheduler;

import java.io.IOException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/** The failure of a {@link FailingRun}: which call fails, and how. */
final class Injection {
    /** How the scheduler is driven. */
    enum Mode { ONE_THREAD, THREE_THREADS, SELF_SERVING, BY_HAND }

    /** Which call fails. */
    enum Place { LISTENER, EXECUTE, TAKE, GIVE_BACK, READ, SIZE }

    /** How the call fails. */
    enum Kind { CHECKED, UNCHECKED, ASSERTION, MEMORY, STACK, REFUSED, EMPTY_BUFFER, NO_BUFFER, CLOSE_SCHEDULER,
        CLOSE_CONSUMERS }

    /**
     * A failure.
     *
     * @param step the number of the call that fails, from 0
     * @param lasting whether all later calls fail too
     */
    record Plan(Mode mode, Place place, Kind kind, int step, boolean lasting) {}

    private final Plan plan;
    private final AtomicInteger calls = new AtomicInteger();
    private final Set<Throwable> made = Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));
    private volatile boolean armed = true;
    private volatile boolean happened;

    Injection(Plan plan) {
        this.plan = plan;
    }

    /** Whether this call is to fail. */
    boolean isDue(Place place) {
        if (!armed || place != plan.place) {
            return false;
        }
        int call = calls.getAndIncrement();
        boolean due = call == plan.step || plan.lasting && call > plan.step;
        happened |= due;
        return due;
    }

    /** Stops failing. */
    void disarm() {
        armed = false;
    }

    /** Whether a call failed. */
    boolean happened() {
        return happened;
    }

    /** Whether {@link #fail} threw this exception. */
    boolean made(Throwable failure) {
        return made.contains(failure);
    }

    /** Whether {@link #fail} threw anything. */
    boolean madeAny() {
        return !made.isEmpty();
    }

    /** Throws what the plan requires. */
    void fail() {
        Throwable failure = switch (plan.kind) {
            case CHECKED -> new IOException("injected");
            case UNCHECKED -> new IllegalStateException("injected");
            case ASSERTION -> new AssertionError("injected");
            case MEMORY -> new OutOfMemoryError("injected");
            case REFUSED -> new RejectedExecutionException("injected");
            case STACK -> overflow();
            default -> throw new IllegalArgumentException(plan + " throws nothing");
        };
        made.add(failure);
        Injection.<RuntimeException>throwAny(failure);
    }

    private static Throwable overflow() {
        try {
            return new IllegalStateException("the recursion ended: " + endless(0));
        } catch (StackOverflowError e) {
            return e;
        }
    }

    private static int endless(int depth) {
        return endless(depth + 1) + 1;
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void throwAny(Throwable failure) throws T {
        throw (T) failure;
    }
}
