package dev.faro.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.Buffers;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.reader.Feed;
import dev.faro.reader.Reader;
import dev.faro.scheduler.Injection.Kind;
import dev.faro.scheduler.Injection.Mode;
import dev.faro.scheduler.Injection.Place;
import dev.faro.scheduler.Injection.Plan;
import dev.faro.testing.RecordingFileSystem;
import dev.faro.testing.Scrambled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Some consumers of one file, all read to their ends, while one operation of the caller or the system fails. */
final class FailingRun {
    private static final int CONSUMERS = 4;
    private static final SchedulerOptions OPTIONS = SchedulerOptions.DEFAULT.withGapBytes(0).withReadBytes(4096)
            .withBudgetBytes(12_000);
    private static final long SECONDS = 15;

    private final Plan plan;
    private final Reader reader;
    private final ExecutorService threads;
    private final Scheduler scheduler;
    private final Pool pool = new Pool();
    private final Injection injection;
    private final ConcurrentLinkedQueue<Throwable> surfaced = new ConcurrentLinkedQueue<>();
    private final List<Reading> readings = new CopyOnWriteArrayList<>();

    /**
     * Makes a run that has not begun.
     *
     * @param executor runs steps, or null
     * @param threads for consumers
     */
    FailingRun(Plan plan, Reader reader, RecordingFileSystem system, Executor executor, ExecutorService threads)
            throws FaroException {
        this.plan = plan;
        this.injection = new Injection(plan);
        this.reader = reader;
        this.threads = threads;
        Executor steps = task -> {
            failIfDue(Place.EXECUTE);
            executor.execute(task);
        };
        this.scheduler = new Scheduler(OPTIONS, executor == null ? null : steps, pool);
        system.hook(call -> failIfDue(call.equals("read") ? Place.READ : Place.SIZE));
    }

    /** Records an exception from a thread that ran steps. */
    void surfaced(Throwable failure) {
        surfaced.add(failure);
    }

    /** A consumer, and what it has read. */
    private final class Reading {
        final Consumer consumer;
        final List<String> transcript = new ArrayList<>();
        final CompletableFuture<FaroException> end = new CompletableFuture<>();

        Reading(int partition) throws FaroException {
            Consumer opened = null;
            try {
                opened = scheduler.partition(reader, partition);
            } catch (FaroException e) {
                assertEquals(Kind.CLOSE_SCHEDULER, plan.kind(), e::toString);
                end.complete(e);
            }
            consumer = opened;
        }

        void close() {
            if (consumer != null) {
                consumer.close();
            }
        }

        /** Takes the blocks that are there, or waits for all of them. */
        synchronized void take(boolean wait) {
            while (!end.isDone()) {
                try {
                    Feed.State state = !wait ? consumer.poll() : consumer.next() ? Feed.State.BLOCK : Feed.State.END;
                    if (state == Feed.State.NOT_YET) {
                        return;
                    }
                    if (state == Feed.State.END) {
                        end.complete(null);
                    } else {
                        transcript.add(Scrambled.describe(consumer.block()));
                    }
                } catch (FaroException e) {
                    end.complete(e);
                } catch (Throwable e) {
                    // Thrown by a callback in this thread; the call may be made again.
                    surfaced.add(e);
                }
            }
        }

        void listen(Executor takers) {
            if (consumer == null) {
                return;
            }
            try {
                consumer.onReady(() -> {
                    try {
                        failIfDue(Place.LISTENER);
                    } finally {
                        takers.execute(() -> take(false));
                    }
                });
            } catch (Throwable e) {
                surfaced.add(e);
            }
        }
    }

    /** Buffers of one size that fail, and wake the scheduler whenever one comes back. */
    private final class Pool implements Buffers {
        private final Set<ByteBuffer> out = Collections.newSetFromMap(new IdentityHashMap<>());

        @Override
        public ByteBuffer take(int wanted) {
            int size = 1500;
            if (injection.isDue(Place.TAKE)) {
                if (plan.kind() == Kind.NO_BUFFER) {
                    threads.execute(scheduler::wake);
                    return null;
                }
                size = 0;
                if (plan.kind() != Kind.EMPTY_BUFFER) {
                    fail();
                    size = 1500;
                }
            }
            ByteBuffer buffer = ByteBuffer.allocateDirect(size);
            synchronized (out) {
                out.add(buffer);
            }
            return buffer;
        }

        @Override
        public void giveBack(ByteBuffer buffer) {
            synchronized (out) {
                assertTrue(out.remove(buffer), "given back twice");
            }
            scheduler.wake();
            failIfDue(Place.GIVE_BACK);
        }

        int out() {
            synchronized (out) {
                return out.size();
            }
        }
    }

    private void failIfDue(Place place) {
        if (injection.isDue(place)) {
            fail();
        }
    }

    private void fail() {
        switch (plan.kind()) {
            case CLOSE_SCHEDULER -> scheduler.close();
            case CLOSE_CONSUMERS -> readings.forEach(reading -> {
                reading.close();
                // This consumer does not call its listener any more.
                threads.execute(() -> reading.take(false));
            });
            default -> injection.fail();
        }
    }

    /** Reads all partitions to their ends and checks the ends. Returns whether the failure happened. */
    boolean run(List<List<String>> expected) throws Exception {
        for (int i = 0; i < CONSUMERS; i++) {
            readings.add(new Reading(i));
        }
        if (plan.mode() == Mode.BY_HAND) {
            byHand();
        } else {
            withThreads();
        }
        await(() -> pool.out() == 0, "buffers of ended readings are given back before the consumers are closed");
        injection.disarm();
        for (int i = 0; i < CONSUMERS; i++) {
            check(readings.get(i), expected.get(i));
            readings.get(i).close();
        }
        if (injection.happened()) {
            checkFailure();
        }
        if (plan.kind() != Kind.CLOSE_SCHEDULER && plan.place() != Place.SIZE) {
            readOneMore(expected.get(1));
        }
        scheduler.close();
        return injection.happened();
    }

    private void byHand() {
        readings.get(2).listen(Runnable::run);
        readings.get(3).listen(Runnable::run);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (readings.stream().anyMatch(reading -> !reading.end.isDone())) {
            assertTrue(System.nanoTime() < end, () -> plan + " waits");
            readings.forEach(reading -> reading.take(false));
            serveAll();
        }
    }

    private void serveAll() {
        boolean more = true;
        while (more) {
            try {
                more = scheduler.serve();
            } catch (Throwable e) {
                surfaced.add(e);
            }
        }
    }

    /** Two consumers wait and two listen. If consumers serve themselves, a thread serves the listening ones. */
    private void withThreads() throws Exception {
        threads.execute(() -> readings.get(0).take(true));
        threads.execute(() -> readings.get(1).take(true));
        readings.get(2).listen(threads);
        readings.get(3).listen(threads);
        if (plan.mode() == Mode.SELF_SERVING) {
            threads.execute(() -> {
                while (!readings.get(2).end.isDone() || !readings.get(3).end.isDone()) {
                    serveAll();
                    LockSupport.parkNanos(50_000);
                }
            });
        }
        try {
            for (Reading reading : readings) {
                reading.end.get(SECONDS, TimeUnit.SECONDS);
            }
        } catch (TimeoutException e) {
            List<String> stuck = new ArrayList<>();
            for (int i = 0; i < CONSUMERS; i++) {
                stuck.add(i + (readings.get(i).end.isDone() ? " ended" : " waits"));
            }
            // So that the threads of this run end.
            scheduler.close();
            throw new AssertionError(plan + ": " + stuck + ", surfaced " + surfaced, e);
        }
    }

    /** Each reading is complete and ends, or is a prefix and ends with the cause. */
    private void check(Reading reading, List<String> expected) {
        FaroException fault = reading.end.join();
        if (fault == null) {
            assertEquals(expected, reading.transcript, plan::toString);
            return;
        }
        List<String> before = expected.subList(0, Math.min(expected.size(), reading.transcript.size()));
        assertEquals(before, reading.transcript, plan::toString);
        if (fault.getMessage().equals(expected.get(expected.size() - 1))) {
            return;
        }
        ErrorCode code = reading.consumer == null ? ErrorCode.INVALID_ARGUMENT : ErrorCode.IO;
        assertEquals(code, fault.code(), plan::toString);
        if (reading.consumer == null) {
            return;
        }
        Throwable cause = fault;
        while (cause.getCause() != null && !injection.made(cause)) {
            cause = cause.getCause();
        }
        boolean explained = switch (plan.kind()) {
            case CLOSE_SCHEDULER, CLOSE_CONSUMERS -> cause.getMessage().contains("was closed");
            case EMPTY_BUFFER -> cause.getMessage().contains("is empty");
            default -> injection.made(cause);
        };
        assertTrue(explained, () -> plan + ": " + fault);
    }

    /** Checks whose fault it is, and where it is thrown. */
    private void checkFailure() {
        long faults = readings.stream().filter(reading -> reading.end.join() != null).count();
        boolean closes = plan.kind() == Kind.CLOSE_SCHEDULER || plan.kind() == Kind.CLOSE_CONSUMERS;
        boolean unaffected = plan.place() == Place.LISTENER || plan.place() == Place.GIVE_BACK
                || plan.kind() == Kind.NO_BUFFER;
        if (!closes && unaffected) {
            assertEquals(0, faults, () -> plan + ": no reading is affected");
        } else if (!closes && plan.place() == Place.TAKE && !plan.lasting()) {
            assertEquals(1, faults, () -> plan + ": the memory was for one reading");
        }
        boolean swallowed = plan.place() == Place.EXECUTE
                || plan.kind() == Kind.CHECKED && (plan.place() == Place.READ || plan.place() == Place.SIZE);
        if (!swallowed && injection.madeAny()) {
            await(() -> surfaced.stream().anyMatch(injection::made), "the step throws it");
        }
    }

    /** Checks that the failure has not stopped the scheduler for good. */
    private void readOneMore(List<String> expected) throws Exception {
        Reading late = new Reading(1);
        readings.add(late);
        threads.execute(() -> late.take(true));
        assertEquals(null, late.end.get(SECONDS, TimeUnit.SECONDS), plan::toString);
        assertEquals(expected, late.transcript, plan::toString);
        late.consumer.close();
    }

    private void await(BooleanSupplier what, String why) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!what.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, () -> plan + ": " + why);
            LockSupport.parkNanos(20_000);
        }
    }
}
