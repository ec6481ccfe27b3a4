package dev.faro.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.follow.Follower;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Feed;
import dev.faro.testing.Outputs;
import dev.faro.testing.Script;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Readings of outputs that are still written (rule 8 of docs/scheduler.md). */
@Timeout(120)
class SchedulerWatchTest {
    private static final SchedulerOptions NARROW =
            SchedulerOptions.DEFAULT.withGapBytes(500).withReadBytes(4096).withBudgetBytes(10_000);

    @TempDir
    private Path folder;

    /** What was delivered, and the fault after it. */
    private record Taken(List<String> blocks, ErrorCode fault) {}

    private static String describe(BlockCursor blocks) throws FaroException {
        ByteBuffer payload = blocks.payload();
        return blocks.region() + " " + blocks.sequence() + " " + blocks.offset() + " " + blocks.kind() + " " + payload.remaining() + " "
                + payload.hashCode();
    }

    private static Taken takeAll(Consumer consumer) {
        List<String> blocks = new ArrayList<>();
        try (consumer) {
            while (consumer.next()) {
                blocks.add(describe(consumer.block()));
            }
            return new Taken(blocks, null);
        } catch (FaroException e) {
            return new Taken(blocks, e.code());
        }
    }

    private static List<String> whole(Follower follower, int partition) throws FaroException {
        List<String> blocks = new ArrayList<>();
        try (BlockCursor cursor = follower.partition(partition)) {
            while (cursor.next()) {
                blocks.add(describe(cursor));
            }
        }
        return blocks;
    }

    /** How the watches end. */
    private enum Ending {
        FINISHED(null),
        GIVEN_UP(ErrorCode.UNFINISHED),
        CLOSED(ErrorCode.IO);

        final ErrorCode fault;

        Ending(ErrorCode fault) {
            this.fault = fault;
        }
    }

    @Test
    void watchesGetWhatAReadingOfTheWholeGives() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        ExecutorService executor = Executors.newFixedThreadPool(2);
        try {
            for (int seed = 1; seed <= 45; seed++) {
                Ending ending = Ending.values()[seed % 3];
                boolean byHand = seed % 2 == 0;
                watches(seed, ending, byHand ? null : executor, threads);
            }
        } finally {
            executor.shutdown();
            threads.shutdown();
        }
    }

    private void watches(int seed, Ending ending, ExecutorService executor, ExecutorService threads) throws Exception {
        Script script = new Script(seed);
        boolean selective = seed % 4 == 1;
        script.options.follow(true).selective(selective);
        Random random = new Random(seed);
        Path name = folder.resolve("w" + seed);
        try (Writer writer = Writer.create(name, script.options);
                Follower follower = Outputs.follow(name, script.layout);
                Scheduler scheduler = executor == null ? new Scheduler(NARROW) : new Scheduler(NARROW, executor)) {
            List<Future<Taken>> taken = new ArrayList<>();
            for (int i = 0; i < script.partitions; i++) {
                taken.add(watch(scheduler, follower, script.first + i, threads));
            }
            for (int step = 0; step < 6; step++) {
                script.run(writer, 20);
                writer.flush();
                if (selective) {
                    // What was consumed from memory. A step has fewer blocks.
                    writer.skipTo(script.first + random.nextInt(script.partitions), 1_000L * (step + 1));
                    writer.skipSharedTo(1_000L * (step + 1));
                }
                if (random.nextBoolean()) {
                    assertFalse(scheduler.follow(follower));
                }
                if (step == 3) {
                    // A late one.
                    taken.add(watch(scheduler, follower, script.first, threads));
                }
            }
            switch (ending) {
                case FINISHED -> {
                    writer.finish();
                    assertTrue(scheduler.follow(follower));
                }
                case GIVEN_UP -> scheduler.giveUp(follower);
                case CLOSED -> end(scheduler);
            }
            for (int i = 0; i < taken.size(); i++) {
                Taken one = taken.get(i).get(60, TimeUnit.SECONDS);
                List<String> expected = whole(follower, script.first + i % script.partitions);
                if (ending == Ending.CLOSED) {
                    // A closed scheduler ends readings where they are.
                    expected = expected.subList(0, one.blocks.size());
                }
                assertEquals(new Taken(expected, ending.fault), one, "seed " + seed + " watch " + i);
            }
        }
    }

    /** Closes a scheduler while others use it. */
    private static void end(Scheduler scheduler) {
        scheduler.close();
    }

    private static Future<Taken> watch(Scheduler scheduler, Follower follower, int partition, ExecutorService threads)
            throws FaroException {
        Consumer consumer = scheduler.watch(follower, partition);
        return threads.submit((Callable<Taken>) () -> takeAll(consumer));
    }

    private Writer writer(String name) throws FaroException {
        return Writer.create(folder.resolve(name), new WriterOptions(3).layout(Layout.PAIRED).follow(true));
    }

    private static void write(Writer writer, int partition, String record) throws FaroException {
        writer.write(partition, ByteBuffer.wrap(record.getBytes()));
        writer.flush();
    }

    @Test
    void aPollThatFailsEndsTheWatchesAfterTheRegionsBefore() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try (Writer writer = writer("damaged");
                Follower follower = Outputs.follow(folder.resolve("damaged"), Layout.PAIRED);
                Scheduler scheduler = new Scheduler(NARROW)) {
            Future<Taken> waiting = watch(scheduler, follower, 1, threads);
            write(writer, 1, "before");
            Path index = folder.resolve("damaged.index");
            long before = Files.size(index);
            write(writer, 1, "damaged");
            try (FileChannel channel = FileChannel.open(index, StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.wrap(new byte[] {-1, -1, -1, -1, -1, -1, -1, -1}), before + 8);
            }
            FaroException fault = assertThrows(FaroException.class, () -> scheduler.follow(follower));
            Taken taken = waiting.get(60, TimeUnit.SECONDS);
            assertEquals(new Taken(whole(follower, 1), fault.code()), taken);
            assertEquals(1, taken.blocks.size());
        } finally {
            threads.shutdown();
        }
    }

    @Test
    void listenersTellOfRegionsAndOfTheEnd() throws Exception {
        try (Writer writer = writer("told");
                Follower follower = Outputs.follow(folder.resolve("told"), Layout.PAIRED);
                Scheduler scheduler = new Scheduler(NARROW)) {
            AtomicInteger told = new AtomicInteger();
            try (Consumer watch = scheduler.watch(follower, 1)) {
                watch.onReady(told::incrementAndGet);
                serveAll(scheduler);
                assertEquals(Feed.State.NOT_YET, watch.poll());
                // Not of a region without data for it.
                write(writer, 0, "for another");
                assertFalse(scheduler.follow(follower));
                serveAll(scheduler);
                assertEquals(0, told.get());
                write(writer, 1, "a record");
                assertFalse(scheduler.follow(follower));
                serveAll(scheduler);
                assertEquals(1, told.get());
                assertEquals(Feed.State.BLOCK, watch.poll());
                assertEquals(Feed.State.NOT_YET, watch.poll());
                serveAll(scheduler);
                assertEquals(Feed.State.NOT_YET, watch.poll());
                writer.finish();
                assertTrue(scheduler.follow(follower));
                serveAll(scheduler);
                assertEquals(2, told.get());
                assertEquals(Feed.State.END, watch.poll());
            }
            FaroException refused = assertThrows(FaroException.class, () -> scheduler.watch(follower, 3));
            assertEquals(ErrorCode.INVALID_ARGUMENT, refused.code());
            // If the output is finished, it is a reading as others.
            try (Consumer late = scheduler.watch(follower, 1)) {
                assertTrue(late.next());
                assertFalse(late.next());
            }
        }
    }

    private static void serveAll(Scheduler scheduler) throws FaroException {
        boolean more;
        do {
            more = scheduler.serve();
        } while (more);
    }
}
