package dev.faro.scheduler.interleaved;

import dev.faro.Buffers;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.MemoryBudget;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Feed;
import dev.faro.reader.Reader;
import dev.faro.scheduler.Consumer;
import dev.faro.scheduler.Scheduler;
import dev.faro.scheduler.SchedulerOptions;
import dev.faro.testing.interleaved.Interleaving;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.LongUnaryOperator;

/**
 * Consumers that wait or listen, threads that make steps, a thread that closes something, a pool that may be empty, and
 * perhaps a failure; all drawn from a seed. A {@link Weaver} loads this class, so it is called through an interface of
 * the JDK.
 */
final class Scenario implements LongUnaryOperator {
    private static final int READ = 4096;

    private final Output output;

    Scenario(Path folder) throws IOException {
        output = new Output(folder.resolve("interleaved"));
    }

    /** Runs one seed. Returns a number for the order of its threads. */
    @Override
    public long applyAsLong(long seed) {
        try {
            return new Run(seed).run();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private enum Place { NONE, LISTENER, EXECUTE, TAKE, GIVE_BACK, GROW, SHRINK }

    /** The run of one seed. */
    private final class Run implements Buffers, MemoryBudget {
        private final Random random;
        private final Interleaving threads;
        private final Scheduler scheduler;
        private final List<Reading> readings = new ArrayList<>();
        private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
        private final List<Thread> workers = new ArrayList<>();
        private final Set<ByteBuffer> out = Collections.newSetFromMap(new IdentityHashMap<>());
        private final int bufferSize;
        private final int maxOut;
        private final Place place;
        /** What the engine may grant to the scheduler's own buffers; -1 if it supplies the buffers. */
        private final long limit;
        private long granted;
        private int refusals;
        private int callsToFailure;
        private boolean failed;
        private boolean closing;
        private int running;

        Run(long seed) throws FaroException {
            random = new Random(seed);
            threads = new Interleaving(random.nextLong());
            bufferSize = 1000 + random.nextInt(3500);
            int min = (READ + bufferSize - 1) / bufferSize;
            maxOut = random.nextBoolean() ? Integer.MAX_VALUE : min + random.nextInt(4);
            place = random.nextBoolean() ? Place.NONE : Place.values()[random.nextInt(Place.values().length)];
            callsToFailure = random.nextInt(1 + random.nextInt(8));
            int steppers = random.nextInt(3);
            SchedulerOptions options = SchedulerOptions.DEFAULT.withGapBytes(0).withReadBytes(READ)
                    .withBudgetBytes(READ + random.nextInt(12_000));
            Executor executor = steppers == 0 ? null : this::execute;
            limit = random.nextBoolean() ? -1 : random.nextInt(8 * READ);
            scheduler = limit < 0 ? new Scheduler(options, executor, this)
                    : new Scheduler(options.withMemoryBudget(this), executor);
            for (int i = 0; i < steppers; i++) {
                workers.add(threads.add("worker " + i, this::work));
            }
            int count = 2 + random.nextInt(3);
            running = count;
            boolean mayListen = steppers > 0 || random.nextBoolean();
            for (int i = 0; i < count; i++) {
                Reading first = new Reading(i, mayListen && random.nextBoolean());
                readings.add(first);
                if (random.nextBoolean()) {
                    first.following = new Reading(first);
                    readings.add(first.following);
                }
            }
            if (steppers == 0 && mayListen) {
                threads.add("driver", this::drive);
            }
            if (random.nextBoolean()) {
                running++;
                int target = random.nextInt(readings.size() + 1);
                int after = random.nextInt(40);
                threads.add("closer", () -> close(target, after));
            }
        }

        private void failIfDue(Place where) {
            if (where == place && callsToFailure-- == 0) {
                failed = true;
                switch (random.nextInt(3)) {
                    case 0 -> throw new IllegalStateException("drawn");
                    case 1 -> throw new AssertionError("drawn");
                    default -> throw new OutOfMemoryError("drawn");
                }
            }
        }

        /** Checks an exception from a call, which may only be the one that was drawn. */
        private void expect(Throwable e) {
            if (!failed) {
                throw new AssertionError(e.toString(), e);
            }
        }

        private void execute(Runnable task) {
            Interleaving.point();
            failIfDue(Place.EXECUTE);
            queue.add(task);
            workers.forEach(Interleaving::unpark);
        }

        private void work() {
            while (running > 0 || !queue.isEmpty()) {
                Runnable task = queue.poll();
                if (task == null) {
                    Interleaving.park(this);
                } else {
                    try {
                        task.run();
                    } catch (Throwable e) {
                        check(failed, "a task threw " + e);
                    }
                }
            }
        }

        private void drive() {
            while (running > 0) {
                try {
                    scheduler.serve();
                } catch (Throwable e) {
                    expect(e);
                }
                Interleaving.parkNanos(this, 0);
            }
        }

        private void close(int target, int after) {
            for (int i = 0; i < after; i++) {
                Interleaving.parkNanos(this, 0);
            }
            closing = true;
            try {
                if (target == readings.size()) {
                    scheduler.close();
                } else {
                    readings.get(target).close();
                }
            } catch (Throwable e) {
                expect(e);
            }
            leave();
        }

        private void leave() {
            if (--running == 0) {
                workers.forEach(Interleaving::unpark);
            }
        }

        @Override
        public ByteBuffer take(int wanted) {
            Interleaving.point();
            failIfDue(Place.TAKE);
            if (out.size() >= maxOut) {
                return null;
            }
            ByteBuffer buffer = ByteBuffer.allocateDirect(bufferSize);
            out.add(buffer);
            return buffer;
        }

        @Override
        public void giveBack(ByteBuffer buffer) {
            check(out.remove(buffer), "given back twice");
            // A thread that still uses the buffer notices this.
            buffer.clear();
            for (int i = 0; i < buffer.capacity(); i += 8) {
                buffer.put(i, (byte) 0xEE);
            }
            Interleaving.point();
            if (maxOut < Integer.MAX_VALUE) {
                scheduler.wake();
            }
            failIfDue(Place.GIVE_BACK);
        }

        @Override
        public boolean tryGrow(long bytes) {
            check(!Interleaving.isLocked(), "the budget is called with the lock");
            Interleaving.point();
            failIfDue(Place.GROW);
            if (granted + bytes > limit) {
                refusals++;
                return false;
            }
            granted += bytes;
            return true;
        }

        @Override
        public void shrink(long bytes) {
            check(!Interleaving.isLocked(), "the budget is called with the lock");
            granted -= bytes;
            check(granted >= 0, "more was given back than granted");
            Interleaving.point();
            failIfDue(Place.SHRINK);
        }

        long run() throws FaroException, InterruptedException {
            threads.run();
            for (Reading reading : readings) {
                reading.check();
            }
            List<FaroException> faults =
                    readings.stream().map(reading -> reading.fault).filter(Objects::nonNull).toList();
            boolean oneFault = closing || place != Place.TAKE || faults.size() <= 1;
            Run.check(oneFault, "one failure made several faults: " + faults);
            Run.check(out.isEmpty(), out.size() + " buffers were not given back");
            Run.check(granted == 0, granted + " bytes were not given back");
            scheduler.close();
            return threads.order();
        }

        private static void check(boolean holds, String what) {
            if (!holds) {
                throw new AssertionError(what);
            }
        }

        /** A consumer and its thread. */
        private final class Reading {
            private final Reader reader;
            private final int partition;
            private final boolean listens;
            private final Thread thread;
            private final List<String> transcript = new ArrayList<>();
            private Consumer consumer;
            private boolean notified;
            private boolean closed;
            private boolean refused;
            private FaroException fault;
            /** The next reading of the same thread, or null. */
            private Reading following;

            Reading(Reading before) {
                reader = output.reader(random.nextInt(2));
                partition = random.nextInt(Output.PARTITIONS);
                listens = before.listens;
                thread = before.thread;
            }

            Reading(int which, boolean listens) {
                reader = output.reader(random.nextInt(2));
                partition = random.nextInt(3) == 0 ? 0 : which;
                this.listens = listens;
                thread = threads.add((listens ? "listening " : "waiting ") + which, this::read);
            }

            private void read() {
                try {
                    open();
                    if (consumer != null && listens) {
                        listen();
                    }
                    while (consumer != null && !takeOne()) {}
                } catch (FaroException e) {
                    fault = e;
                }
                if (following == null) {
                    leave();
                    return;
                }
                closeMine();
                following.read();
            }

            /** Opens the consumer, unless its memory is refused. */
            private void open() throws FaroException {
                while (consumer == null && !refused) {
                    try {
                        consumer = scheduler.partition(reader, partition);
                    } catch (FaroException e) {
                        refused = refusals > 0 && e.getMessage().contains("memory for a consumer");
                        if (!refused) {
                            throw e;
                        }
                    } catch (Throwable e) {
                        expect(e);
                    }
                }
            }

            private void closeMine() {
                try {
                    if (consumer != null) {
                        consumer.close();
                    }
                } catch (Throwable e) {
                    expect(e);
                }
            }

            private void listen() {
                try {
                    consumer.onReady(() -> {
                        notified = true;
                        Interleaving.unpark(thread);
                        failIfDue(Place.LISTENER);
                    });
                } catch (Throwable e) {
                    expect(e);
                }
            }

            /** Takes a block, or waits for it. Returns whether this was the end. */
            private boolean takeOne() throws FaroException {
                Feed.State state;
                try {
                    state = !listens ? consumer.next() ? Feed.State.BLOCK : Feed.State.END : consumer.poll();
                } catch (FaroException e) {
                    throw e;
                } catch (Throwable e) {
                    expect(e);
                    return false;
                }
                BlockCursor block = consumer.block();
                if (state == Feed.State.BLOCK && !closed) {
                    transcript.add(Output.describe(block));
                } else if (state == Feed.State.NOT_YET) {
                    while (!notified && !closed) {
                        Interleaving.park(this);
                    }
                    notified = false;
                }
                return state == Feed.State.END;
            }

            void close() {
                closed = true;
                try {
                    if (consumer != null) {
                        consumer.close();
                    }
                } finally {
                    if (listens) {
                        // A closed consumer does not call its listener any more.
                        Interleaving.unpark(thread);
                    }
                }
            }

            void check() {
                List<String> whole = output.expected(partition);
                List<String> prefix = whole.subList(0, Math.min(transcript.size(), whole.size()));
                Run.check(prefix.equals(transcript), "a reading has " + transcript);
                Run.check(refused || fault != null || transcript.size() == whole.size() || closed, "a reading ends early");
                if (fault != null) {
                    ErrorCode code = consumer == null ? ErrorCode.INVALID_ARGUMENT : ErrorCode.IO;
                    // A failing listener ends no reading, nor does a pool that fails to take a buffer back.
                    boolean may = closing || failed && (place == Place.TAKE || place == Place.EXECUTE);
                    Run.check(fault.code() == code && may, "a reading ends with " + fault);
                }
                closeMine();
            }
        }
    }
}
