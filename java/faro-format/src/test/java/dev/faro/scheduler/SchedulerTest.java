package dev.faro.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.Buffers;
import dev.faro.FaroException;
import dev.faro.reader.Feed;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingFileSystem;
import dev.faro.testing.Scrambled;
import dev.faro.testing.Torment;
import dev.faro.writer.Layout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The rules of docs/scheduler.md. */
@Timeout(120)
class SchedulerTest {
    static final int PARTITIONS = 50;
    static final int REGIONS = 6;
    private static final int RECORD = 5000;
    /** There is no room for all consumers at once. */
    private static final SchedulerOptions NARROW = SchedulerOptions.DEFAULT.withGapBytes(0).withReadBytes(1 << 20)
            .withBudgetBytes(20_000);

    private final RecordingFileSystem system = new RecordingFileSystem();

    @TempDir
    Path folder;

    /** Buffers of one size, counted, up to an allowed number. */
    static class Counting implements Buffers {
        private final Set<ByteBuffer> out = Collections.newSetFromMap(new IdentityHashMap<>());
        private final int size;
        int allowed = Integer.MAX_VALUE;

        Counting(int size) {
            this.size = size;
        }

        @Override
        public synchronized ByteBuffer take(int wanted) {
            if (out.size() >= allowed) {
                return null;
            }
            ByteBuffer buffer = ByteBuffer.allocateDirect(size);
            out.add(buffer);
            return buffer;
        }

        @Override
        public synchronized void giveBack(ByteBuffer buffer) {
            assertTrue(out.remove(buffer), "given back twice");
        }

        synchronized int out() {
            return out.size();
        }
    }

    private static SchedulerOptions drawn(Random random) {
        return switch (random.nextInt(3)) {
            case 0 -> SchedulerOptions.DEFAULT;
            case 1 -> SchedulerOptions.DEFAULT.withGapBytes(random.nextInt(100))
                    .withReadBytes(4096 + random.nextInt(1000)).withBudgetBytes(4096 + random.nextInt(20_000));
            default -> SchedulerOptions.DEFAULT.withGapBytes(0).withReadBytes(1 << 20).withBudgetBytes(100_000);
        };
    }

    /** All consumers of a file at once, polled in any order: each reads what a reader reads, with the same faults. */
    @Test
    void theSameBlocksAsAReader() throws Exception {
        int faults = 0;
        for (int seed = 0; seed < 120; seed++) {
            Random random = new Random(seed);
            Scrambled output = Scrambled.write(folder.resolve("random"), random, 1 + random.nextInt(3000));
            if (seed % 2 == 1) {
                output.damage(random);
            }
            SchedulerOptions options = drawn(random);
            Counting buffers = new Counting(1 + random.nextInt(4000));
            try (Reader reader = output.open(ReaderOptions.DEFAULT);
                    Scheduler scheduler = new Scheduler(options, null, buffers)) {
                List<List<String>> expected = output.transcripts(reader);
                int from = output.first + random.nextInt(output.partitions);
                int to = from + random.nextInt(output.first + output.partitions - from + 1);
                expected.add(Scrambled.transcript(reader.range(from, to)));
                List<Consumer> consumers = new ArrayList<>();
                for (int i = 0; i < output.partitions; i++) {
                    consumers.add(scheduler.partition(reader, output.first + i));
                }
                consumers.add(scheduler.range(reader, from, to));
                List<List<String>> found = pollInAnyOrder(scheduler, consumers, random);
                assertEquals(expected, found, "seed " + seed);
                assertEquals(0, buffers.out());
                long max = options.budgetBytes() + 4096L * consumers.size();
                assertTrue(scheduler.figures().mostHeldBytes() <= max, "seed " + seed);
                faults += expected.toString().contains("expected") ? 1 : 0;
            } catch (FaroException e) {
                assertTrue(seed % 2 == 1, "seed " + seed);
            }
        }
        assertTrue(faults > 15, faults + " with faults");
    }

    static List<List<String>> pollInAnyOrder(Scheduler scheduler, List<Consumer> consumers, Random random)
            throws FaroException {
        List<List<String>> transcripts = new ArrayList<>();
        consumers.forEach(consumer -> transcripts.add(new ArrayList<>()));
        List<Integer> open = new ArrayList<>();
        for (int i = 0; i < consumers.size(); i++) {
            open.add(i);
        }
        while (!open.isEmpty()) {
            boolean served = random.nextInt(3) == 0 && scheduler.serve();
            Collections.shuffle(open, random);
            boolean moved = false;
            for (int i = open.size() - 1; i >= 0; i--) {
                moved |= pollSome(consumers, transcripts, open, i, random);
            }
            assertTrue(moved || served || scheduler.serve(), "nothing goes on: " + scheduler);
        }
        return transcripts;
    }

    private static boolean pollSome(
            List<Consumer> consumers, List<List<String>> transcripts, List<Integer> open, int at, Random random) {
        int which = open.get(at);
        Consumer consumer = consumers.get(which);
        Feed.State state = Feed.State.BLOCK;
        try {
            for (int times = random.nextInt(4); times >= 0 && state == Feed.State.BLOCK; times--) {
                state = consumer.poll();
                if (state == Feed.State.BLOCK) {
                    transcripts.get(which).add(Scrambled.describe(consumer.block()));
                }
            }
        } catch (FaroException e) {
            transcripts.get(which).add(e.getMessage());
            assertEquals(e.getMessage(), assertThrows(FaroException.class, consumer::poll).getMessage());
            state = Feed.State.END;
        }
        if (state == Feed.State.END) {
            consumer.close();
            open.remove(at);
        }
        return state != Feed.State.NOT_YET;
    }

    /** Several threads that read, several that take, several files. */
    @Test
    void manyThreads() throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(3);
        Random random = new Random(5);
        List<Reader> readers = new ArrayList<>();
        Counting buffers = new Counting(3000);
        try (Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT.withGapBytes(1000).withReadBytes(100_000)
                .withBudgetBytes(300_000), executor, buffers)) {
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int file = 0; file < 6; file++) {
                Scrambled output = Scrambled.write(folder.resolve("file" + file), random, 3000);
                Reader reader = output.open(ReaderOptions.DEFAULT);
                readers.add(reader);
                List<List<String>> expected = output.transcripts(reader);
                for (int thread = 0; thread < 2; thread++) {
                    int first = thread;
                    tasks.add(() -> {
                        for (int i = first; i < output.partitions; i += 2) {
                            assertEquals(expected.get(i),
                                    Scrambled.transcript(scheduler.partition(reader, output.first + i)));
                        }
                        return null;
                    });
                }
            }
            Torment.runAll(tasks);
            assertEquals(0, buffers.out());
            assertTrue(scheduler.figures().mostHeldBytes() <= 300_000);
        } finally {
            executor.shutdownNow();
            for (Reader reader : readers) {
                reader.close();
            }
        }
    }

    /** Writes a record of some blocks for each partition in each region. */
    static Reader openEven(Path folder, RecordingFileSystem system) throws FaroException {
        Path name = folder.resolve("even");
        Outputs.even(name, PARTITIONS, REGIONS, RECORD);
        List<Path> files = Outputs.files(name, Layout.PAIRED).stream().map(system::path).toList();
        return Reader.openPair(files.get(0), files.get(1), ReaderOptions.DEFAULT);
    }

    static List<Consumer> openAll(Scheduler scheduler, Reader reader) throws FaroException {
        List<Consumer> consumers = new ArrayList<>();
        for (int i = 0; i < PARTITIONS; i++) {
            consumers.add(scheduler.partition(reader, i));
        }
        return consumers;
    }

    /** Rule 3: a region that all consumers request is one read, and not fifty. */
    @Test
    void fewReadsInTheOrderOfTheFile() throws Exception {
        try (Reader reader = openEven(folder, system); Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT)) {
            List<Consumer> consumers = openAll(scheduler, reader);
            Collections.shuffle(consumers, new Random(1));
            List<List<String>> found = pollInAnyOrder(scheduler, consumers, new Random(2));
            assertTrue(found.stream().noneMatch(List::isEmpty));
            SchedulerFigures figures = scheduler.figures();
            assertTrue(figures.reads() <= 2 * REGIONS, figures.toString());
            assertEquals(0, figures.gapBytes());
        }
    }

    @Test
    void figuresOfWaitingAndHolding() throws Exception {
        Reader reader = openEven(folder, system);
        Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT);
        try (reader; scheduler; Consumer consumer = scheduler.partition(reader, 1)) {
            assertEquals(Feed.State.NOT_YET, consumer.poll());
            assertEquals(1, scheduler.figures().waits());
            assertEquals(0, scheduler.figures().heldBytes());
            while (scheduler.serve()) {
                // Until the consumer has all that it may hold.
            }
            assertEquals(Feed.State.BLOCK, consumer.poll());
            SchedulerFigures figures = scheduler.figures();
            assertEquals(1, figures.waits());
            assertTrue(figures.heldBytes() > 0 && figures.heldBytes() <= figures.mostHeldBytes(), figures.toString());
            assertEquals(figures.bytesRead() - figures.gapBytes(), figures.heldBytes());
        }
        assertEquals(0, scheduler.figures().heldBytes());
    }

    /** Rule 4: a consumer that never takes anything fills its share, and is skipped. */
    @Test
    void slowConsumersDoNotStallOthers() throws Exception {
        Counting buffers = new Counting(1000);
        SchedulerOptions options = SchedulerOptions.DEFAULT.withGapBytes(0).withReadBytes(1 << 20)
                .withBudgetBytes(10_000L * PARTITIONS);
        try (Reader reader = openEven(folder, system); Scheduler scheduler = new Scheduler(options, null, buffers)) {
            List<Consumer> consumers = openAll(scheduler, reader);
            // Half of the consumers are slow: they take nothing.
            for (int i = 0; i < PARTITIONS; i += 2) {
                assertEquals(Scrambled.transcript(reader.partition(i)), Scrambled.transcript(consumers.get(i)));
            }
            assertTrue(scheduler.figures().mostHeldBytes() <= options.budgetBytes());
            assertNotEquals(0, buffers.out(), "the slow ones hold something");
            for (int i = 1; i < PARTITIONS; i += 2) {
                assertEquals(Scrambled.transcript(reader.partition(i)), Scrambled.transcript(consumers.get(i)));
            }
            assertEquals(0, buffers.out());
        }
    }

    /** Opens a consumer that holds as much as it may, and takes nothing. */
    private static Consumer openIdle(Scheduler scheduler, Reader reader) throws Exception {
        Consumer idle = scheduler.partition(reader, 0);
        while (scheduler.serve()) {}
        return idle;
    }

    /** Lets consumers of all partitions read to their ends, the last one first. */
    private static void assertAllServed(Reader reader, List<Consumer> consumers) throws Exception {
        for (int i = PARTITIONS - 1; i >= 0; i--) {
            assertEquals(Scrambled.transcript(reader.partition(i)), Scrambled.transcript(consumers.get(i)));
        }
    }

    /** Rule 4: a consumer that holds the whole budget and takes nothing does not hold up one that holds nothing. */
    @Test
    void aConsumerThatHoldsNothingIsServed() throws Exception {
        Counting buffers = new Counting(1000);
        try (Reader reader = openEven(folder, system); Scheduler scheduler = new Scheduler(NARROW, null, buffers)) {
            Consumer idle = openIdle(scheduler, reader);
            assertTrue(scheduler.figures().mostHeldBytes() > NARROW.budgetBytes() / 2);
            List<Consumer> others = openAll(scheduler, reader);
            assertAllServed(reader, others);
            long max = NARROW.budgetBytes() + 4096L * PARTITIONS;
            assertTrue(scheduler.figures().mostHeldBytes() <= max, scheduler.figures().toString());
            assertEquals(Scrambled.transcript(reader.partition(0)), Scrambled.transcript(idle));
            assertEquals(0, buffers.out());
        }
    }

    /** The same if the pool sometimes has less than is requested, so that a started request is put back. */
    @Test
    void aConsumerThatHoldsNothingIsServedFromAPoolThatIsSometimesEmpty() throws Exception {
        Counting buffers = new Counting(1000);
        try (Reader reader = openEven(folder, system); Scheduler scheduler = new Scheduler(NARROW, null, buffers)) {
            Consumer idle = openIdle(scheduler, reader);
            List<Consumer> others = openAll(scheduler, reader);
            buffers.allowed = buffers.out() + 2;
            assertTrue(scheduler.serve());
            assertFalse(scheduler.serve(), "the started request needs more");
            buffers.allowed = Integer.MAX_VALUE;
            scheduler.wake();
            assertAllServed(reader, others);
            idle.close();
            assertEquals(0, buffers.out());
        }
    }

    /** Rule 7: no thread waits; listeners are called when there is something. */
    @Test
    void listeners() throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(2);
        try (Reader reader = openEven(folder, system); Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT
                .withGapBytes(0).withReadBytes(10_000).withBudgetBytes(50_000), executor)) {
            List<List<String>> expected = new ArrayList<>();
            List<List<String>> found = new ArrayList<>();
            java.util.concurrent.CountDownLatch ends = new java.util.concurrent.CountDownLatch(PARTITIONS);
            ExecutorService takers = Executors.newSingleThreadExecutor();
            for (int i = 0; i < PARTITIONS; i++) {
                expected.add(Scrambled.transcript(reader.partition(i)));
                expected.get(i).add("end");
                found.add(Collections.synchronizedList(new ArrayList<>()));
                Consumer consumer = scheduler.partition(reader, i);
                List<String> transcript = found.get(i);
                consumer.onReady(() -> takers.execute(() -> takeAll(consumer, transcript, ends)));
            }
            assertTrue(ends.await(60, java.util.concurrent.TimeUnit.SECONDS));
            assertEquals(expected, found);
            takers.shutdownNow();
        } finally {
            executor.shutdownNow();
        }
    }

    private static void takeAll(Consumer consumer, List<String> transcript, java.util.concurrent.CountDownLatch ends) {
        if (!transcript.isEmpty() && transcript.get(transcript.size() - 1).equals("end")) {
            // A listener may be called once more than needed.
            return;
        }
        try {
            Feed.State state = consumer.poll();
            while (state == Feed.State.BLOCK) {
                transcript.add(Scrambled.describe(consumer.block()));
                state = consumer.poll();
            }
            if (state == Feed.State.END) {
                transcript.add("end");
                consumer.close();
                ends.countDown();
            }
        } catch (FaroException e) {
            transcript.add(e.getMessage());
        }
    }
}
