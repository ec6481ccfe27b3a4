package dev.faro.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.codec.Codec;
import dev.faro.follow.Follower;
import dev.faro.testing.Outputs;
import dev.faro.testing.Script;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RoundTripTest {
    @TempDir
    Path folder;

    @Test
    void randomScripts() throws Exception {
        for (long seed = 1; seed <= 400; seed++) {
            Script script = new Script(seed);
            Path name = folder.resolve("s" + seed);
            try (Writer writer = Writer.create(name, script.options)) {
                script.run(writer, script.random.nextInt(200));
                writer.finish();
            }
            String what = "seed " + seed;
            Outputs.check(name, script.layout);
            try (Reader reader = Outputs.open(name, script.layout)) {
                for (int p = script.first; p < script.first + script.partitions; p++) {
                    assertEquals(script.expected(p), script.read(reader, p), what + " partition " + p);
                }
                checkRanges(reader, script, what);
            }
        }
    }

    /** A range, filtered by partition, delivers what each partition reads. */
    private static void checkRanges(Reader reader, Script script, String what) throws FaroException {
        int from = script.first + script.random.nextInt(script.partitions);
        int to = from + 1 + script.random.nextInt(script.first + script.partitions - from);
        for (int p = from; p < to; p++) {
            List<Long> single = new ArrayList<>();
            List<Long> ranged = new ArrayList<>();
            try (BlockCursor blocks = reader.partition(p); BlockCursor range = reader.range(from, to)) {
                while (blocks.next()) {
                    single.add(blocks.offset());
                }
                while (range.next()) {
                    if (range.isFor(p)) {
                        ranged.add(range.offset());
                    }
                }
            }
            assertEquals(single, ranged, what + " range " + from + " to " + to);
        }
    }

    @Test
    void fromARegionOn() throws Exception {
        Path name = folder.resolve("from");
        try (Writer writer = Writer.create(name, new WriterOptions(2))) {
            for (int i = 0; i < 5; i++) {
                writer.write(i % 2, Outputs.bytes("record " + i));
                writer.broadcast(Outputs.bytes("all"));
                writer.flush();
            }
            writer.finish();
        }
        try (Reader reader = Outputs.open(name, Layout.PAIRED); BlockCursor blocks = reader.partition(1, 3)) {
            int count = 0;
            while (blocks.next()) {
                assertTrue(blocks.region() >= 3);
                count++;
            }
            assertEquals(3, count);
        }
    }

    @Test
    void followingWhileWriting() throws Exception {
        for (long seed = 1; seed <= 60; seed++) {
            Script script = new Script(seed);
            script.options.follow(true);
            Path name = folder.resolve("f" + seed);
            try (Writer writer = Writer.create(name, script.options);
                    Follower follower = Outputs.follow(name, script.layout)) {
                for (int step = 0; step < 8; step++) {
                    script.run(writer, 20);
                    writer.flush();
                    assertFalse(follower.poll());
                    for (int p = script.first; p < script.first + script.partitions; p++) {
                        assertEquals(script.expected(p), script.read(follower, p), "seed " + seed + " partition " + p);
                    }
                }
                writer.finish();
                assertTrue(follower.poll());
                assertTrue(follower.footer() != null);
            }
        }
    }

    @Test
    void threadsShareAReader() throws Exception {
        Path name = folder.resolve("threads");
        int partitions = 50;
        long[] sums = new long[partitions];
        Random random = new Random(5);
        try (Writer writer = Writer.create(name, new WriterOptions(partitions).codec(Codec.ZSTD).bufferSize(50_000))) {
            for (int i = 0; i < 20_000; i++) {
                int p = random.nextInt(partitions);
                byte[] record = new byte[random.nextInt(50)];
                random.nextBytes(record);
                for (byte b : record) {
                    sums[p] += b;
                }
                writer.write(p, ByteBuffer.wrap(record));
            }
            writer.finish();
        }
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try (Reader reader = Outputs.open(name, Layout.PAIRED)) {
            List<Future<Void>> futures = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                Callable<Void> read = () -> {
                    for (int p = 0; p < partitions; p++) {
                        assertEquals(sums[p], sum(reader, p));
                    }
                    return null;
                };
                futures.add(threads.submit(read));
            }
            for (Future<Void> future : futures) {
                future.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static long sum(Reader reader, int partition) throws FaroException {
        long sum = 0;
        try (RecordCursor records = reader.records(partition)) {
            while (records.next()) {
                ByteBuffer record = records.record();
                while (record.hasRemaining()) {
                    sum += record.get();
                }
            }
        }
        return sum;
    }

    /** Messages larger than the buffer of the index file. */
    @Test
    void largeMessages() throws Exception {
        Path name = folder.resolve("large");
        int partitions = 20_000;
        try (Writer writer = Writer.create(name, new WriterOptions(partitions))) {
            for (int region = 0; region < 3; region++) {
                for (int p = 0; p < partitions; p++) {
                    writer.write(p, Outputs.bytes("p" + p));
                }
                writer.flush();
            }
            writer.finish();
        }
        assertEquals(3L * partitions, Outputs.check(name, Layout.PAIRED).blocks());
    }

    @Test
    void manyPartitionsAndLargeRecords() throws Exception {
        Path name = folder.resolve("many");
        int partitions = 100_000;
        byte[] large = new byte[6 << 20];
        new Random(1).nextBytes(large);
        try (Writer writer = Writer.create(name, new WriterOptions(partitions).framing(Framing.OPAQUE).rotation(77)
                .bufferSize(20 << 20).layout(Layout.SINGLE))) {
            for (int i = 0; i < partitions; i++) {
                writer.write((int) (i * 7919L % partitions), Outputs.bytes("p" + i));
            }
            writer.write(5, ByteBuffer.wrap(large));
            writer.write(5, ByteBuffer.wrap(large));
            writer.write(5, ByteBuffer.wrap(new byte[30 << 20]));
            writer.finish();
        }
        Outputs.check(name, Layout.SINGLE);
        try (Reader reader = Outputs.open(name, Layout.SINGLE); BlockCursor blocks = reader.partition(5)) {
            assertEquals(2, reader.regionCount());
            assertEquals(partitions, reader.region(0).slots());
            assertEquals(77, reader.region(0).partitionOf(0));
            long bytes = 0;
            while (blocks.next()) {
                bytes += blocks.payload().remaining();
            }
            assertEquals(2L * large.length + (30 << 20) + 3, bytes, 5);
            assertEquals(bytes, reader.footer().statistics().plain(5));
        }
    }
}
