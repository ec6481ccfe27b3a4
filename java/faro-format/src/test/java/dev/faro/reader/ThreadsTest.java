package dev.faro.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.check.CheckReport;
import dev.faro.follow.Follower;
import dev.faro.testing.Outputs;
import dev.faro.testing.Script;
import dev.faro.testing.Torment;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Many threads with one reader, and many followers of one writer. */
@Timeout(60)
class ThreadsTest {
    private static final int THREADS = 8;

    @TempDir
    Path folder;

    private static Reader open(Path name, Layout layout, long cacheBytes) throws FaroException {
        ReaderOptions options = ReaderOptions.DEFAULT.withCacheBytes(cacheBytes);
        return layout == Layout.SINGLE ? Reader.openSingle(Outputs.file(name, ".faro"), options)
                : Reader.openPair(Outputs.file(name, ".data"), Outputs.file(name, ".index"), options);
    }

    /**
     * Partitions, ranges, checks, region messages and cursors that are closed halfway, with no cache, a small one and a
     * large one.
     */
    @Test
    void oneReaderForManyThreads() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("shared" + layout);
            Torment.write(name, layout);
            for (long cacheBytes : new long[] {0, 1000, 1 << 20}) {
                try (Reader reader = open(name, layout, cacheBytes)) {
                    List<List<Long>> expected = Torment.readEach(reader);
                    CheckReport checked = Check.check(reader, CheckLevel.DECODE);
                    List<Callable<Void>> tasks = new ArrayList<>();
                    for (int i = 0; i < THREADS; i++) {
                        Random random = new Random(i);
                        tasks.add(() -> {
                            for (int round = 0; round < 25; round++) {
                                oneOf(reader, random, expected, checked);
                            }
                            return null;
                        });
                    }
                    Torment.runAll(tasks);
                }
            }
        }
    }

    private static void oneOf(Reader reader, Random random, List<List<Long>> expected, CheckReport checked)
            throws FaroException {
        int which = random.nextInt(expected.size());
        switch (random.nextInt(10)) {
            case 0 -> assertEquals(checked, Check.check(reader, CheckLevel.DECODE));
            case 1, 2 -> {
                int number = random.nextInt(Torment.REGIONS);
                assertEquals(number, reader.region(number).sequence());
            }
            case 3, 4 -> {
                try (BlockCursor blocks = reader.all()) {
                    for (int left = random.nextInt(40); left > 0 && blocks.next(); left--) {
                        blocks.payload();
                    }
                }
            }
            default -> assertEquals(expected.get(which), Torment.readOne(reader, which));
        }
    }

    /** A thread that changes its view of the schema message does not affect the others. */
    @Test
    void eachCallReturnsANewSchemaMessage() throws Exception {
        Path name = folder.resolve("arrow");
        try (Writer writer = Writer.create(
                name, new WriterOptions(1).framing(Framing.ARROW).schema(Script.ARROW).follow(true))) {
            writer.finish();
        }
        try (Reader reader = open(name, Layout.PAIRED, 0);
                Follower follower = Outputs.follow(name, Layout.PAIRED)) {
            for (PartitionReader each : List.of(reader, follower)) {
                ByteBuffer one = each.schemaMessage();
                assertEquals(-1, one.getInt());
                assertEquals(ByteBuffer.wrap(Script.ARROW), each.schemaMessage());
                assertThrows(ReadOnlyBufferException.class, () -> one.put(0, (byte) 1));
            }
        }
    }

    /** A poll of another thread neither adds to what a cursor reads nor removes from it. */
    @Test
    void aCursorReadsTheRegionsThatWereCommittedWhenItBegan() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("begun" + layout);
            try (Writer writer = Writer.create(name, new WriterOptions(1).layout(layout).follow(true));
                    Follower follower = Outputs.follow(name, layout)) {
                writer.write(0, Outputs.bytes("one"));
                writer.flush();
                follower.poll();
                BlockCursor begun = follower.all();
                writer.write(0, Outputs.bytes("two"));
                writer.flush();
                follower.poll();
                assertEquals(1, Torment.read(begun).size());
                assertEquals(2, Torment.read(follower.all()).size());
            }
        }
    }

    /**
     * Each follower sees a growing prefix of the final output, whatever the others do. Two threads share one of them.
     */
    @Test
    void manyFollowersOfOneWriter() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("followed" + layout);
            List<List<List<Long>>> ends = new ArrayList<>();
            CountDownLatch watching = new CountDownLatch(THREADS);
            try (Writer writer = Writer.create(name, Torment.options(layout).follow(true));
                    Follower shared = Outputs.follow(name, layout)) {
                List<Callable<Void>> tasks = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    int number = i;
                    tasks.add(() -> {
                        try (Follower own = Outputs.follow(name, layout)) {
                            List<List<Long>> end = follow(number < 2 ? shared : own, watching);
                            synchronized (ends) {
                                ends.add(end);
                            }
                        }
                        return null;
                    });
                }
                tasks.add(() -> {
                    for (int i = 0; i < Torment.REGIONS; i++) {
                        Torment.region(writer, i);
                        if (i == Torment.REGIONS / 2) {
                            // So that each follower has seen a part of the output.
                            watching.await();
                        }
                    }
                    writer.finish();
                    return null;
                });
                Torment.runAll(tasks);
            }
            try (Reader reader = open(name, layout, 0)) {
                List<List<Long>> whole = Torment.readEach(reader);
                assertEquals(THREADS, ends.size());
                for (List<List<Long>> end : ends) {
                    assertEquals(whole, end);
                }
            }
        }
    }

    private static List<List<Long>> follow(Follower follower, CountDownLatch watching) throws Exception {
        List<Long> before = List.of();
        int regions = 0;
        boolean finished = false;
        while (!finished) {
            finished = follower.poll();
            int now = follower.regionCount();
            assertTrue(now >= regions, now + " regions after " + regions);
            if (now == regions && !finished) {
                Thread.onSpinWait();
                continue;
            }
            List<Long> all = Torment.read(follower.all());
            assertEquals(before, all.subList(0, before.size()));
            before = all;
            regions = now;
            watching.countDown();
        }
        return Torment.readEach(follower);
    }
}
