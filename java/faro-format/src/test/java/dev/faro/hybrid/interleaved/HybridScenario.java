package dev.faro.hybrid.interleaved;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.hybrid.HybridConsumer;
import dev.faro.hybrid.HybridMemory;
import dev.faro.hybrid.HybridMode;
import dev.faro.hybrid.HybridOptions;
import dev.faro.hybrid.HybridPosition;
import dev.faro.hybrid.HybridStore;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.reader.RecordCursor;
import dev.faro.testing.interleaved.Interleaving;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Stores that share a memory, each with a producer and a consumer of each partition, which waits for its listener; threads
 * that spill; and perhaps a store that cannot make its files, or one that is released too early. All of it is drawn from a
 * seed. A weaver loads this class, so it is called through an interface of the JDK.
 */
final class HybridScenario implements LongUnaryOperator {
    private static final int PARTITIONS = 2;
    /** No region ends because time passed, so that a seed repeats. */
    private static final Duration NO_CLOCK = Duration.ofDays(1);

    private final Path folder;

    HybridScenario(Path folder) {
        this.folder = folder;
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

    /** The run of one seed. */
    private final class Run implements Executor {
        private final Random random;
        private final Interleaving threads;
        private final HybridMemory memory;
        private final List<Stored> stores = new ArrayList<>();
        private final List<Thread> workers = new ArrayList<>();
        private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
        private int running;

        Run(long seed) throws FaroException {
            random = new Random(seed);
            threads = new Interleaving(random.nextLong());
            memory = new HybridMemory(random.nextInt(4) == 0 ? 1 << 20 : random.nextInt(400));
            int spillers = random.nextInt(3);
            for (int i = 0; i < spillers; i++) {
                workers.add(threads.add("spills " + i, this::work));
            }
            int count = 1 + random.nextInt(2);
            for (int i = 0; i < count; i++) {
                stores.add(new Stored(this, seed + "-" + i));
            }
        }

        @Override
        public void execute(Runnable work) {
            if (Interleaving.isLocked()) {
                throw new AssertionError("an executor is called with a lock");
            }
            if (workers.isEmpty()) {
                work.run();
                return;
            }
            queue.add(work);
            workers.forEach(Interleaving::unpark);
        }

        private void work() {
            while (running > 0 || !queue.isEmpty()) {
                Runnable work = queue.poll();
                if (work == null) {
                    Interleaving.park(queue);
                } else {
                    work.run();
                }
            }
        }

        private void ended() {
            running--;
            workers.forEach(Interleaving::unpark);
        }

        long run() throws IOException, InterruptedException {
            threads.run();
            if (memory.used() != 0) {
                throw new AssertionError(memory.used() + " bytes are left in memory");
            }
            for (Stored store : stores) {
                store.check();
            }
            return threads.order();
        }
    }

    /** A store, its producer and its consumers. */
    private final class Stored {
        private final Run run;
        private final Random random;
        private final HybridMode mode;
        /** The files are in a folder that does not exist. */
        private final boolean broken;
        /** The number of records after which the store is released; none if negative. */
        private final int releasedAt;
        private final Path name;
        private final HybridStore store;
        private final List<List<Integer>> model = new ArrayList<>();
        private final Thread producer;
        private int reading = PARTITIONS;
        private boolean done;
        private FaroException failure;

        Stored(Run run, String name) throws FaroException {
            this.run = run;
            this.random = new Random(run.random.nextLong());
            this.mode = random.nextBoolean() ? HybridMode.FULL : HybridMode.SELECTIVE;
            this.broken = random.nextInt(5) == 0;
            this.releasedAt = random.nextInt(5) == 0 ? random.nextInt(12) : -1;
            this.name = (broken ? folder.resolve("nowhere") : folder).resolve(name);
            this.store = HybridStore.create(this.name, new WriterOptions(PARTITIONS),
                    new HybridOptions(run.memory, mode).executor(run).delay(NO_CLOCK));
            IntStream.range(0, PARTITIONS).forEach(partition -> model.add(new ArrayList<>()));
            run.running++;
            producer = run.threads.add("producer " + name, this::produce);
            for (int partition = 0; partition < PARTITIONS; partition++) {
                new Reading(this, partition, random.nextInt(4) == 0, random.nextLong());
            }
        }

        private void produce() {
            try {
                int records = random.nextInt(12);
                for (int i = 0; i < records; i++) {
                    if (i == releasedAt) {
                        store.release();
                        return;
                    }
                    write(i);
                }
                store.finish();
            } catch (FaroException e) {
                failure = e;
                if (!broken || e.code() != ErrorCode.IO) {
                    throw new AssertionError(e);
                }
            } finally {
                done = true;
                readings.forEach(each -> Interleaving.unpark(each.thread));
                while (reading > 0) {
                    Interleaving.park(this);
                }
                store.close();
                run.ended();
            }
        }

        private final List<Reading> readings = new ArrayList<>();

        private void write(int number) throws FaroException {
            ByteBuffer record = ByteBuffer.allocate(4 + random.nextInt(60)).putInt(0, number);
            int to = random.nextInt(PARTITIONS + 1);
            // Before the call: a consumer may get it before the call returns.
            for (int partition = 0; partition < PARTITIONS; partition++) {
                if (to == partition || to == PARTITIONS) {
                    model.get(partition).add(number);
                }
            }
            if (to == PARTITIONS) {
                store.broadcast(record);
            } else {
                store.write(to, record);
            }
            if (random.nextInt(3) > 0) {
                store.flush();
            }
        }

        /** Looks at the files after everything has ended. */
        void check() throws IOException {
            boolean finished = failure == null && !broken && releasedAt < 0;
            if (mode == HybridMode.FULL && finished) {
                try (Reader reader = Reader.open(name, ReaderOptions.DEFAULT)) {
                    for (int partition = 0; partition < PARTITIONS; partition++) {
                        List<Integer> found = new ArrayList<>();
                        try (RecordCursor records = reader.records(partition)) {
                            while (records.next()) {
                                found.add(records.record().order(ByteOrder.BIG_ENDIAN).getInt(0));
                            }
                        }
                        if (!found.equals(model.get(partition))) {
                            throw new AssertionError("the files have " + found + ", not " + model.get(partition));
                        }
                    }
                }
            }
            if (!finished && Files.isDirectory(name.getParent())) {
                try (Stream<Path> files = Files.list(name.getParent())) {
                    List<Path> left = files.filter(file -> file.getFileName().toString().startsWith(name.getFileName() + "."))
                            .toList();
                    if (releasedAt >= 0 && !done || broken && !left.isEmpty()) {
                        throw new AssertionError("files are left: " + left);
                    }
                }
            }
        }
    }

    /** A thread that reads a partition. */
    private static final class Reading {
        private final Stored of;
        private final int partition;
        private final boolean late;
        private final Random random;
        private final List<Integer> found = new ArrayList<>();
        private final Thread thread;
        private boolean rung;

        Reading(Stored of, int partition, boolean late, long seed) {
            this.of = of;
            this.partition = partition;
            this.late = late;
            this.random = new Random(seed);
            this.thread = of.run.threads.add("reader " + of.name.getFileName() + " " + partition, this::read);
            of.readings.add(this);
        }

        private void ring() {
            if (Interleaving.isLocked()) {
                throw new AssertionError("a listener is called with a lock");
            }
            rung = true;
            Interleaving.unpark(thread);
        }

        private void read() {
            try {
                while (late && !of.done) {
                    Interleaving.park(this);
                }
                readAll();
                if (!found.equals(of.model.get(partition))) {
                    throw new AssertionError("delivered " + found + ", not " + of.model.get(partition));
                }
            } catch (FaroException e) {
                boolean released = of.releasedAt >= 0 && e.code() == ErrorCode.INVALID_ARGUMENT;
                if (!released && !(of.broken && e.code() == ErrorCode.IO)) {
                    throw new AssertionError(e.toString(), e);
                }
                List<Integer> all = of.model.get(partition);
                if (!all.subList(0, Math.min(all.size(), found.size())).equals(found)) {
                    throw new AssertionError("delivered " + found + " of " + all, e);
                }
            } finally {
                of.reading--;
                Interleaving.unpark(of.producer);
            }
        }

        /** Reads to the end. The consumer of a full store may leave, and another one go on. */
        private void readAll() throws FaroException {
            HybridPosition from = HybridPosition.START;
            while (true) {
                try (HybridConsumer consumer = of.store.open(partition, from, this::ring)) {
                    if (readFrom(consumer)) {
                        return;
                    }
                    from = consumer.position();
                }
            }
        }

        private boolean readFrom(HybridConsumer consumer) throws FaroException {
            while (true) {
                while (consumer.next()) {
                    take(consumer.block().payload());
                    if (of.mode == HybridMode.FULL && random.nextInt(5) == 0) {
                        return false;
                    }
                }
                if (consumer.isFinished()) {
                    return true;
                }
                while (!rung) {
                    Interleaving.park(this);
                }
                rung = false;
            }
        }

        private void take(ByteBuffer payload) {
            for (int at = 0; at < payload.limit();) {
                int size = payload.getInt(at);
                found.add(Integer.reverseBytes(payload.getInt(at + 4)));
                at += 4 + size;
            }
        }
    }
}
