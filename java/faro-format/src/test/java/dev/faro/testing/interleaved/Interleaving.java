package dev.faro.testing.interleaved;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads of which one runs at a time. At each {@link #point} a seed decides which one continues, so the same seed
 * repeats the same order. {@link Weaver} puts points into the classes under test, and makes them wait here.
 */
public final class Interleaving {
    private static final int MAX_SWITCHES = 200_000;
    private static final long SECONDS = 60;
    private static volatile Interleaving current;

    private final Random random;
    /** Another thread continues at one of this many points. */
    private final int rarity;
    private final List<Task> tasks = new ArrayList<>();
    private final Semaphore ended = new Semaphore(0);
    /** The threads that wait for a condition. */
    private final Map<Condition, List<Task>> conditions = new HashMap<>();
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
        /**
         * The number of monitors that it holds. It cannot stop while it has one, because the others would be blocked.
         */
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

    /** A condition whose lock is known. Only the methods above use it. */
    private record LockCondition(ReentrantLock lock, Condition condition) implements Condition {
        private static UnsupportedOperationException unused() {
            return new UnsupportedOperationException("a method that is not woven");
        }

        @Override
        public void await() {
            throw unused();
        }

        @Override
        public void awaitUninterruptibly() {
            throw unused();
        }

        @Override
        public long awaitNanos(long nanoseconds) {
            throw unused();
        }

        @Override
        public boolean await(long time, TimeUnit unit) {
            throw unused();
        }

        @Override
        public boolean awaitUntil(java.util.Date deadline) {
            throw unused();
        }

        @Override
        public void signal() {
            throw unused();
        }

        @Override
        public void signalAll() {
            throw unused();
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    /** Makes an interleaving without threads, with the order of a seed. */
    public Interleaving(long seed) {
        random = new Random(seed);
        rarity = 1 << 1 + random.nextInt(6);
    }

    /** Adds a thread. */
    public Thread add(String name, Runnable body) {
        Task task = new Task(name, body);
        tasks.add(task);
        return task;
    }

    /**
     * Runs all threads to their ends.
     *
     * @throws AssertionError if they wait for each other, or one throws an exception
     */
    public void run() throws InterruptedException {
        current = this;
        tasks.forEach(Thread::start);
        next(null);
        boolean inTime = ended.tryAcquire(SECONDS, TimeUnit.SECONDS);
        current = null;
        if (!inTime) {
            stuck = "no thread reaches a point";
        }
        if (stuck != null) {
            throw new AssertionError(stuck, failure);
        }
    }

    /** A number that distinguishes this order of threads from others. */
    public long order() {
        return order;
    }

    private void fail(String why, Throwable cause) {
        if (stuck == null) {
            failure = cause;
            stuck = why;
        }
    }

    /** Gives control to a thread that can continue. Returns whether it is the same one. */
    private boolean next(Task from) {
        List<Task> ready = tasks.stream().filter(task -> !task.done && !task.waits).toList();
        boolean allDone = tasks.stream().allMatch(task -> task.done);
        if (!allDone && ready.isEmpty()) {
            fail("all wait: " + tasks.stream().filter(task -> !task.done).map(Thread::getName).toList(), null);
        }
        if (++switches > MAX_SWITCHES) {
            fail("too many switches", null);
        }
        if (allDone || stuck != null) {
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

    private static Task currentTask() {
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

    /** Another thread may continue here. */
    public static void point() {
        Task task = currentTask();
        if (task != null && task.monitors == 0 && current().random.nextInt(current().rarity) == 0) {
            yieldNow(task);
        }
    }

    /** The thread entered a monitor. */
    public static void entered() {
        Task task = currentTask();
        if (task != null) {
            task.monitors++;
        }
    }

    /** The thread leaves a monitor. */
    public static void leaving() {
        Task task = currentTask();
        if (task != null) {
            task.monitors--;
        }
    }

    /** Does what {@link ReentrantLock#lock} does. A thread that has a lock does not stop, so it is free. */
    public static void lock(ReentrantLock lock) {
        lock.lock();
        entered();
    }

    /** Does what {@link ReentrantLock#unlock} does. */
    public static void unlock(ReentrantLock lock) {
        lock.unlock();
        leaving();
        point();
    }

    /** Does what {@link ReentrantLock#newCondition} does, for {@link #awaitUninterruptibly}. */
    public static Condition newCondition(ReentrantLock lock) {
        return new LockCondition(lock, lock.newCondition());
    }

    /** Does what {@link Condition#awaitUninterruptibly} does. */
    public static void awaitUninterruptibly(Condition condition) {
        Task task = currentTask();
        ReentrantLock lock = ((LockCondition) condition).lock();
        if (task.monitors != 1 || lock.getHoldCount() != 1) {
            throw new IllegalStateException("a thread waits while it holds another lock");
        }
        current().conditions.computeIfAbsent(condition, any -> new ArrayList<>()).add(task);
        unlockToWait(task, lock);
        task.waits = true;
        yieldNow(task);
        lock(lock);
    }

    private static void unlockToWait(Task task, ReentrantLock lock) {
        lock.unlock();
        task.monitors--;
    }

    /** Does what {@link Condition#signalAll} does. */
    public static void signalAll(Condition condition) {
        Interleaving now = current;
        List<Task> waiting = now == null ? null : now.conditions.remove(condition);
        if (waiting != null) {
            waiting.forEach(task -> task.waits = false);
        }
    }

    /** Whether this thread holds a monitor or a lock of the classes under test. */
    public static boolean isLocked() {
        Task task = currentTask();
        return task != null && task.monitors > 0;
    }

    /** Does what {@link java.util.concurrent.locks.LockSupport#park(Object)} does. */
    public static void park(Object blocker) {
        Task task = currentTask();
        if (task.monitors > 0) {
            throw new IllegalStateException("a thread waits while it holds a lock");
        }
        if (task.permit) {
            task.permit = false;
            return;
        }
        task.waits = true;
        yieldNow(task);
    }

    /**
     * Does what {@link java.util.concurrent.locks.LockSupport#parkNanos(Object, long)} does; the time is always over.
     */
    public static void parkNanos(Object blocker, long nanoseconds) {
        yieldNow(currentTask());
    }

    /** Does what {@link java.util.concurrent.locks.LockSupport#unpark} does. */
    public static void unpark(Thread thread) {
        Task task = (Task) thread;
        task.permit = !task.waits;
        task.waits = false;
        point();
    }
}
