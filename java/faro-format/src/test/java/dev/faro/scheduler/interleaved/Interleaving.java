package dev.faro.scheduler.interleaved;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Threads of which one runs at a time; which one is drawn from a seed at each {@link #point}, so the same seed gives the
 * same order again. {@link Weaver} puts points into the classes under test, and has them wait here.
 */
public final class Interleaving {
    private static final int MOST_SWITCHES = 200_000;
    private static final long SECONDS = 60;
    private static volatile Interleaving current;

    private final Random random;
    /** At one of so many points another thread goes on. */
    private final int rarity;
    private final List<Task> tasks = new ArrayList<>();
    private final Semaphore ended = new Semaphore(0);
    private int switches;
    private long order;
    private volatile String stuck;
    private volatile Throwable failure;

    /** One of the threads. */
    private final class Task extends Thread {
        final Runnable body;
        final Semaphore go = new Semaphore(0);
        boolean waits;
        boolean permit;
        boolean done;
        /** Monitors that it holds: it cannot stop there, as the others would be blocked. */
        int monitors;

        Task(String name, Runnable body) {
            super(name);
            this.body = body;
            setDaemon(true);
        }

        @Override
        public void run() {
            go.acquireUninterruptibly();
            try {
                body.run();
            } catch (Throwable e) {
                fail(getName() + " failed: " + e, e);
            }
            done = true;
            next(this);
        }
    }

    /** Threads to come, and the order that a seed gives them. */
    public Interleaving(long seed) {
        random = new Random(seed);
        rarity = 1 << 1 + random.nextInt(6);
    }

    /** A thread to run. */
    public Thread add(String name, Runnable body) {
        Task task = new Task(name, body);
        tasks.add(task);
        return task;
    }

    /**
     * Runs all to their ends.
     *
     * @throws AssertionError if they wait for each other, or one throws something
     */
    public void run() throws InterruptedException {
        current = this;
        tasks.forEach(Thread::start);
        next(null);
        boolean in = ended.tryAcquire(SECONDS, TimeUnit.SECONDS);
        current = null;
        if (!in) {
            stuck = "no thread comes to a point";
        }
        if (stuck != null) {
            throw new AssertionError(stuck, failure);
        }
    }

    /** Tells the order in which the threads went on from others. */
    public long order() {
        return order;
    }

    private void fail(String why, Throwable cause) {
        if (stuck == null) {
            failure = cause;
            stuck = why;
        }
    }

    /** Hands control to one that can go on. Returns whether it is the same. */
    private boolean next(Task from) {
        List<Task> ready = tasks.stream().filter(task -> !task.done && !task.waits).toList();
        boolean over = tasks.stream().allMatch(task -> task.done);
        if (!over && ready.isEmpty()) {
            fail("all wait: " + tasks.stream().filter(task -> !task.done).map(Thread::getName).toList(), null);
        }
        if (++switches > MOST_SWITCHES) {
            fail("no end of switches", null);
        }
        if (over || stuck != null) {
            ended.release();
            return false;
        }
        Task to = ready.get(random.nextInt(ready.size()));
        order = 31 * order + tasks.indexOf(to);
        if (to == from) {
            return true;
        }
        to.go.release();
        return false;
    }

    private static Task mine() {
        return Thread.currentThread() instanceof Task task ? task : null;
    }

    private static void yieldNow(Task task) {
        if (!current().next(task)) {
            task.go.acquireUninterruptibly();
        }
    }

    private static Interleaving current() {
        Interleaving now = current;
        if (now == null) {
            // The run is over: threads that are left stay where they are.
            new Semaphore(0).acquireUninterruptibly();
        }
        return now;
    }

    /** Here another thread may go on. */
    public static void point() {
        Task task = mine();
        if (task != null && task.monitors == 0 && current().random.nextInt(current().rarity) == 0) {
            yieldNow(task);
        }
    }

    /** The thread entered a monitor. */
    public static void entered() {
        Task task = mine();
        if (task != null) {
            task.monitors++;
        }
    }

    /** The thread leaves a monitor. */
    public static void leaving() {
        Task task = mine();
        if (task != null) {
            task.monitors--;
        }
    }

    /** What {@link java.util.concurrent.locks.LockSupport#park(Object)} does. */
    public static void park(Object blocker) {
        Task task = mine();
        if (task.monitors > 0) {
            throw new IllegalStateException("it waits with a lock");
        }
        if (task.permit) {
            task.permit = false;
            return;
        }
        task.waits = true;
        yieldNow(task);
    }

    /** What {@link java.util.concurrent.locks.LockSupport#parkNanos(Object, long)} does; the time is always over. */
    public static void parkNanos(Object blocker, long nanoseconds) {
        yieldNow(mine());
    }

    /** What {@link java.util.concurrent.locks.LockSupport#unpark} does. */
    public static void unpark(Thread thread) {
        Task task = (Task) thread;
        task.permit = !task.waits;
        task.waits = false;
        point();
    }
}
