package dev.faro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.reader.Feed;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.scheduler.Buffers;
import dev.faro.scheduler.Consumer;
import dev.faro.scheduler.Scheduler;
import dev.faro.scheduler.SchedulerOptions;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The rules of docs/scheduler.md. */
@Timeout(120)
class SchedulerTest {
    private static final int PARTITIONS = 50;
    private static final int REGIONS = 6;
    private static final int RECORD = 5000;

    private final RecordingFileSystem system = new RecordingFileSystem();

    @TempDir
    Path folder;

    /** Buffers of one size, counted; as many as are allowed. */
    private static class Counting implements Buffers {
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

    /** What a consumer reads, and the fault at its end. */
    private static List<String> story(Consumer consumer) {
        List<String> story = new ArrayList<>();
        try (consumer) {
            while (consumer.next()) {
                story.add(Scrambled.describe(consumer.block()));
            }
        } catch (FaroException e) {
            story.add(e.getMessage());
        }
        return story;
    }

    private static SchedulerOptions drawn(Random random) {
        return switch (random.nextInt(3)) {
            case 0 -> SchedulerOptions.DEFAULT;
            case 1 -> new SchedulerOptions(random.nextInt(100), 1 + random.nextInt(5000), 1 + random.nextInt(20_000));
            default -> new SchedulerOptions(0, 1 << 20, 100_000);
        };
    }

    /** All consumers of a file at once, polled in any order: each reads what a reader reads, faults included. */
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
                List<List<String>> expected = output.stories(reader);
                int from = output.first + random.nextInt(output.partitions);
                int to = from + random.nextInt(output.first + output.partitions - from + 1);
                expected.add(Scrambled.story(reader.range(from, to)));
                List<Consumer> consumers = new ArrayList<>();
                for (int i = 0; i < output.partitions; i++) {
                    consumers.add(scheduler.open(reader, output.first + i));
                }
                consumers.add(scheduler.open(reader, from, to));
                List<List<String>> found = pollInAnyOrder(scheduler, consumers, random);
                assertEquals(expected, found, "seed " + seed);
                assertEquals(0, buffers.out());
                long least = Math.max(options.budgetBytes(), 4096);
                assertTrue(scheduler.statistics().mostHeld() <= least, "seed " + seed);
                faults += expected.toString().contains("expected") ? 1 : 0;
            } catch (FaroException e) {
                assertTrue(seed % 2 == 1, "seed " + seed);
            }
        }
        assertTrue(faults > 15, faults + " with faults");
    }

    private static List<List<String>> pollInAnyOrder(Scheduler scheduler, List<Consumer> consumers, Random random)
            throws FaroException {
        List<List<String>> stories = new ArrayList<>();
        consumers.forEach(consumer -> stories.add(new ArrayList<>()));
        List<Integer> open = new ArrayList<>();
        for (int i = 0; i < consumers.size(); i++) {
            open.add(i);
        }
        while (!open.isEmpty()) {
            boolean served = random.nextInt(3) == 0 && scheduler.serve();
            Collections.shuffle(open, random);
            boolean moved = false;
            for (int i = open.size() - 1; i >= 0; i--) {
                moved |= pollSome(consumers, stories, open, i, random);
            }
            assertTrue(moved || served || scheduler.serve(), "nothing goes on: " + scheduler);
        }
        return stories;
    }

    private static boolean pollSome(
            List<Consumer> consumers, List<List<String>> stories, List<Integer> open, int at, Random random) {
        int which = open.get(at);
        Consumer consumer = consumers.get(which);
        Feed.State state = Feed.State.BLOCK;
        try {
            for (int times = random.nextInt(4); times >= 0 && state == Feed.State.BLOCK; times--) {
                state = consumer.poll();
                if (state == Feed.State.BLOCK) {
                    stories.get(which).add(Scrambled.describe(consumer.block()));
                }
            }
        } catch (FaroException e) {
            stories.get(which).add(e.getMessage());
            assertEquals(e.getMessage(), assertThrows(FaroException.class, consumer::poll).getMessage());
            state = Feed.State.END;
        }
        if (state == Feed.State.END) {
            consumer.close();
            open.remove(at);
        }
        return state != Feed.State.NOT_YET;
    }

    /** Threads that read, threads that take, several files. */
    @Test
    void manyThreads() throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(3);
        Random random = new Random(5);
        List<Reader> readers = new ArrayList<>();
        Counting buffers = new Counting(3000);
        try (Scheduler scheduler = new Scheduler(new SchedulerOptions(1000, 100_000, 300_000), executor, buffers)) {
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int file = 0; file < 6; file++) {
                Scrambled output = Scrambled.write(folder.resolve("file" + file), random, 3000);
                Reader reader = output.open(ReaderOptions.DEFAULT);
                readers.add(reader);
                List<List<String>> expected = output.stories(reader);
                for (int thread = 0; thread < 2; thread++) {
                    int first = thread;
                    tasks.add(() -> {
                        for (int i = first; i < output.partitions; i += 2) {
                            assertEquals(expected.get(i), story(scheduler.open(reader, output.first + i)));
                        }
                        return null;
                    });
                }
            }
            Torment.runAll(tasks);
            assertEquals(0, buffers.out());
            assertTrue(scheduler.statistics().mostHeld() <= 300_000);
        } finally {
            executor.shutdownNow();
            for (Reader reader : readers) {
                reader.close();
            }
        }
    }

    private List<Path> writeEven() throws FaroException {
        Path name = folder.resolve("even");
        byte[] record = new byte[RECORD];
        try (Writer writer = Writer.create(name, new WriterOptions(PARTITIONS).blockSize(2000).overwrite(true))) {
            for (int region = 0; region < REGIONS; region++) {
                for (int i = 0; i < PARTITIONS; i++) {
                    Arrays.fill(record, (byte) (region * PARTITIONS + i));
                    writer.write(i, ByteBuffer.wrap(record));
                }
                writer.flush();
            }
            writer.finish();
        }
        return Outputs.files(name, Layout.PAIRED).stream().map(system::path).toList();
    }

    private Reader openEven() throws FaroException {
        List<Path> files = writeEven();
        return Reader.openPair(files.get(0), files.get(1), ReaderOptions.DEFAULT);
    }

    private static List<Consumer> openAll(Scheduler scheduler, Reader reader) throws FaroException {
        List<Consumer> consumers = new ArrayList<>();
        for (int i = 0; i < PARTITIONS; i++) {
            consumers.add(scheduler.open(reader, i));
        }
        return consumers;
    }

    /** Rule 3: a region that all ask for is one read, and not fifty. */
    @Test
    void fewReadsInTheOrderOfTheFile() throws Exception {
        try (Reader reader = openEven(); Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT)) {
            List<Consumer> consumers = openAll(scheduler, reader);
            Collections.shuffle(consumers, new Random(1));
            List<List<String>> found = pollInAnyOrder(scheduler, consumers, new Random(2));
            assertTrue(found.stream().noneMatch(List::isEmpty));
            Scheduler.Statistics statistics = scheduler.statistics();
            assertTrue(statistics.reads() <= 2 * REGIONS, statistics.toString());
            assertEquals(0, statistics.gapBytes());
        }
    }

    /** Rule 4: who never takes anything fills its share, and is passed over. */
    @Test
    void slowConsumersStallNobody() throws Exception {
        Counting buffers = new Counting(1000);
        SchedulerOptions options = new SchedulerOptions(0, 1 << 20, 10_000L * PARTITIONS);
        try (Reader reader = openEven(); Scheduler scheduler = new Scheduler(options, null, buffers)) {
            List<Consumer> consumers = openAll(scheduler, reader);
            // Half of them are slow: nothing of theirs is taken.
            for (int i = 0; i < PARTITIONS; i += 2) {
                assertEquals(Scrambled.story(reader.partition(i)), story(consumers.get(i)));
            }
            assertTrue(scheduler.statistics().mostHeld() <= options.budgetBytes());
            assertNotEquals(0, buffers.out(), "the slow ones hold something");
            for (int i = 1; i < PARTITIONS; i += 2) {
                assertEquals(Scrambled.story(reader.partition(i)), story(consumers.get(i)));
            }
            assertEquals(0, buffers.out());
        }
    }

    /** Rule 5: a consumer that is closed between the choice of a read and its end. */
    @Test
    void closedWhileItIsReadFor() throws Exception {
        List<Consumer> consumers = new ArrayList<>();
        AtomicInteger left = new AtomicInteger(3);
        Counting buffers = new Counting(700) {
            @Override
            public ByteBuffer take(int wanted) {
                if (left.decrementAndGet() == 0) {
                    consumers.get(7).close();
                    consumers.get(40).close();
                }
                return super.take(wanted);
            }
        };
        try (Reader reader = openEven(); Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT, null, buffers)) {
            consumers.addAll(openAll(scheduler, reader));
            for (int i = 0; i < PARTITIONS; i++) {
                if (i == 7 || i == 40) {
                    continue;
                }
                assertEquals(Scrambled.story(reader.partition(i)), story(consumers.get(i)));
            }
            assertEquals(0, buffers.out(), "what was read for the closed ones was given back");
        }
    }

    /** Rule 5: everything comes back, whenever consumers are closed. */
    @Test
    void closedAtAnyTime() throws Exception {
        for (int seed = 0; seed < 30; seed++) {
            Random random = new Random(seed);
            Counting buffers = new Counting(1500);
            try (Reader reader = openEven(); Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT, null, buffers)) {
                List<Consumer> consumers = openAll(scheduler, reader);
                for (Consumer consumer : consumers) {
                    if (random.nextBoolean()) {
                        scheduler.serve();
                    }
                    if (random.nextBoolean()) {
                        consumer.poll();
                    }
                    consumer.close();
                }
                assertEquals(0, buffers.out());
                assertFalse(scheduler.serve() && scheduler.serve(), "nothing is left to do");
            }
        }
    }

    /** Rule 6: a read that the system refuses is the fault of those who waited for it; those to come see nothing. */
    @Test
    void aReadThatIsRefused() throws Exception {
        try (Reader reader = openEven(); Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT)) {
            List<Consumer> consumers = openAll(scheduler, reader).subList(0, PARTITIONS / 2);
            for (int i = 0; i < REGIONS; i++) {
                reader.region(i);
            }
            system.refuseRead(0);
            assertTrue(scheduler.serve());
            Consumer late = scheduler.open(reader, 3);
            for (Consumer consumer : consumers) {
                FaroException e = assertThrows(FaroException.class, consumer::next);
                assertEquals(ErrorCode.IO, e.code());
            }
            assertEquals(Scrambled.story(reader.partition(3)), story(late));
        }
    }

    /** Rule 6: of a file that shrank, only who needs what is gone gets a fault. */
    @Test
    void aFileThatShrank() throws Exception {
        try (Reader reader = openEven(); Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT)) {
            List<Consumer> consumers = openAll(scheduler, reader);
            long cut = reader.region(0).start(30);
            try (java.nio.channels.FileChannel file = java.nio.channels.FileChannel.open(
                    folder.resolve("even.data"), java.nio.file.StandardOpenOption.WRITE)) {
                file.truncate(cut);
            }
            for (int i = 0; i < PARTITIONS; i++) {
                Consumer consumer = consumers.get(i);
                int blocks = 0;
                FaroException fault = null;
                try {
                    while (consumer.next()) {
                        blocks++;
                    }
                } catch (FaroException e) {
                    fault = e;
                }
                assertEquals(ErrorCode.TRUNCATED, fault.code());
                assertEquals(cut, fault.offset());
                assertEquals(i < 30, blocks > 0, "partition " + i + ": " + blocks + " blocks of region 0");
            }
        }
    }

    /** An interrupt is nobody's fault: the step is left to the next call. */
    @Test
    void interruptsWhileServing() throws Exception {
        try (Reader reader = openEven(); Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT)) {
            List<Consumer> consumers = openAll(scheduler, reader);
            for (int i = 0; i < 4; i++) {
                system.interruptRead(i);
                FaroException e = assertThrows(FaroException.class, () -> {
                    while (scheduler.serve()) {
                        // Until the interrupt.
                    }
                });
                assertTrue(e.getCause() instanceof InterruptedIOException);
                assertTrue(Thread.interrupted());
            }
            system.refuseRead(-1);
            for (int i = 0; i < PARTITIONS; i++) {
                assertEquals(Scrambled.story(reader.partition(i)), story(consumers.get(i)));
            }
        }
    }

    /** A pool that is empty is asked again when it says so. */
    @Test
    void aPoolThatIsEmpty() throws Exception {
        Counting buffers = new Counting(6000);
        buffers.allowed = 0;
        try (Reader reader = openEven(); Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT, null, buffers)) {
            List<Consumer> consumers = openAll(scheduler, reader);
            int steps = 0;
            while (scheduler.serve()) {
                assertTrue(++steps < 10, "it waits for the pool");
            }
            assertEquals(Feed.State.NOT_YET, consumers.get(0).poll());
            buffers.allowed = 4;
            scheduler.wake();
            List<List<String>> expected = new ArrayList<>();
            for (int i = 0; i < PARTITIONS; i++) {
                expected.add(Scrambled.story(reader.partition(i)));
            }
            assertEquals(expected, pollInAnyOrder(scheduler, consumers, new Random(3)));
        }
    }

    /** Rule 7: nobody waits; listeners say when there is something. */
    @Test
    void listeners() throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(2);
        try (Reader reader = openEven(); Scheduler scheduler = new Scheduler(new SchedulerOptions(0, 10_000, 50_000), executor)) {
            List<List<String>> expected = new ArrayList<>();
            List<List<String>> found = new ArrayList<>();
            java.util.concurrent.CountDownLatch ends = new java.util.concurrent.CountDownLatch(PARTITIONS);
            ExecutorService takers = Executors.newSingleThreadExecutor();
            for (int i = 0; i < PARTITIONS; i++) {
                expected.add(Scrambled.story(reader.partition(i)));
                expected.get(i).add("end");
                found.add(Collections.synchronizedList(new ArrayList<>()));
                Consumer consumer = scheduler.open(reader, i);
                List<String> story = found.get(i);
                consumer.listener(() -> takers.execute(() -> takeAll(consumer, story, ends)));
            }
            assertTrue(ends.await(60, java.util.concurrent.TimeUnit.SECONDS));
            assertEquals(expected, found);
            takers.shutdownNow();
        } finally {
            executor.shutdownNow();
        }
    }

    private static void takeAll(Consumer consumer, List<String> story, java.util.concurrent.CountDownLatch ends) {
        if (!story.isEmpty() && story.get(story.size() - 1).equals("end")) {
            // A listener may call once more than needed.
            return;
        }
        try {
            Feed.State state = consumer.poll();
            while (state == Feed.State.BLOCK) {
                story.add(Scrambled.describe(consumer.block()));
                state = consumer.poll();
            }
            if (state == Feed.State.END) {
                story.add("end");
                consumer.close();
                ends.countDown();
            }
        } catch (FaroException e) {
            story.add(e.getMessage());
        }
    }

    /** An executor that takes no more tasks, and a scheduler that is closed, end all readings. */
    @Test
    void theEndOfTheScheduler() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try (Reader reader = openEven()) {
            executor.shutdownNow();
            Scheduler refused = new Scheduler(SchedulerOptions.DEFAULT, executor);
            Consumer consumer = refused.open(reader, 1);
            assertEquals(ErrorCode.IO, assertThrows(FaroException.class, consumer::next).code());
            Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT);
            Consumer open = scheduler.open(reader, 1);
            scheduler.close();
            assertEquals(ErrorCode.IO, assertThrows(FaroException.class, open::next).code());
            assertEquals(ErrorCode.INVALID_ARGUMENT,
                    assertThrows(FaroException.class, () -> scheduler.open(reader, 1)).code());
            assertThrows(FaroException.class, () -> refused.open(reader, PARTITIONS));
        }
    }
}
