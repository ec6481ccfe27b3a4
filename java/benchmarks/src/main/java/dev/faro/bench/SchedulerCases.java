package dev.faro.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.codec.Codec;
import dev.faro.index.Region;
import dev.faro.plan.Sweep;
import dev.faro.reader.Feed;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.scheduler.Consumer;
import dev.faro.scheduler.Scheduler;
import dev.faro.scheduler.SchedulerFigures;
import dev.faro.scheduler.SchedulerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;

/**
 * The part {@code scheduler}: the number of reads that the scheduler makes for many consumers, and the distances
 * between them, compared with readers that read one by one; and the time of both on a model of a disk. Counts and a
 * model need no warm-up, so this part measures in this JVM.
 */
final class SchedulerCases {
    /** A spinning disk: 8 ms for a read that does not begin where the last one ended, 150 MB/s. */
    private static final double SEEK_SECONDS = 0.008;
    private static final double BYTES_PER_SECOND = 150e6;
    private static final int EXTENT = 10 << 10;

    private SchedulerCases() {}

    static List<ChainedOptionsBuilder> runs(Arguments arguments, Path folder) throws IOException {
        Results results = new Results(arguments.out());
        int mib = arguments.quick() ? 8 : Math.min(512, arguments.plainMib());
        for (int partitions : List.of(1000, 10_000)) {
            trace(results, folder, arguments.quick() ? partitions / 50 : partitions, mib);
        }
        int many = arguments.quick() ? 50 : 1000;
        model(results, many, many);
        return List.of();
    }

    /**
     * Counts the reads of one file: all partitions at once by the scheduler; region by region in random order, one by
     * one.
     */
    private static void trace(Results results, Path folder, int partitions, int mib) throws IOException {
        WriteCase which = WriteBenchmark.make(
                "text", 100, partitions, Math.max(1, Math.min(16, mib / 4)), Codec.NONE.name(), mib);
        Path at = java.nio.file.Files.createDirectories(folder.resolve("scheduler-" + partitions));
        new FaroRead(which, true, at);
        try (Reader reader = Reader.openPair(at.resolve("faro.data"), at.resolve("faro.index"), ReaderOptions.DEFAULT);
                Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT)) {
            long begin = System.nanoTime();
            long bytes = readAll(scheduler, reader, partitions);
            long nanos = System.nanoTime() - begin;
            if (bytes != which.plainBytes()) {
                throw new IOException("expected " + which.plainBytes() + " bytes as written, read " + bytes);
            }
            SchedulerFigures figures = scheduler.figures();
            ObjectNode json = which.json().put("order", "any");
            ObjectNode line = Results.line("scheduler", "scheduler", json, List.of(nanos), bytes);
            line.putObject("figures").put("reads", figures.reads()).put("seek_bytes", figures.seekBytes())
                    .put("gap_bytes", figures.gapBytes()).put("most_held_bytes", figures.mostHeldBytes());
            results.append(line);
            results.append(alone(reader, which));
        }
    }

    /** Reads with a consumer for each partition; random numbers decide which consumer is next. */
    private static long readAll(Scheduler scheduler, Reader reader, int partitions) throws IOException {
        List<Consumer> open = new ArrayList<>();
        for (int i = 0; i < partitions; i++) {
            open.add(scheduler.partition(reader, i));
        }
        Random random = new Random(1);
        Collections.shuffle(open, random);
        long bytes = 0;
        while (!open.isEmpty()) {
            scheduler.serve();
            for (int i = open.size() - 1; i >= 0; i--) {
                Consumer consumer = open.get(i);
                Feed.State state = consumer.poll();
                while (state == Feed.State.BLOCK) {
                    bytes += consumer.block().payload().remaining();
                    state = consumer.poll();
                }
                if (state == Feed.State.END) {
                    consumer.close();
                    open.set(i, open.get(open.size() - 1));
                    open.remove(open.size() - 1);
                }
            }
        }
        return bytes;
    }

    /**
     * Reads with a cursor for each partition, each of which reads one extent in its turn; counts the reads of the file.
     */
    private static ObjectNode alone(Reader reader, WriteCase which) throws IOException {
        long begin = System.nanoTime();
        long bytes = 0;
        for (int i : order(which.partitions(), new Random(2))) {
            try (var blocks = reader.partition(i)) {
                while (blocks.next()) {
                    bytes += blocks.payload().remaining();
                }
            }
        }
        long nanos = System.nanoTime() - begin;
        long reads = 0;
        long seekBytes = 0;
        long position = 0;
        Random random = new Random(3);
        for (int number = 0; number < reader.regionCount(); number++) {
            Region region = reader.region(number);
            for (int partition : order(which.partitions(), random)) {
                int slot = region.slotOf(partition);
                if (slot >= 0 && region.start(slot) < region.start(slot + 1)) {
                    reads++;
                    seekBytes += Math.abs(region.start(slot) - position);
                    position = region.start(slot + 1);
                }
            }
        }
        ObjectNode json = which.json().put("order", "any");
        ObjectNode line = Results.line("scheduler", "one-by-one", json, List.of(nanos), bytes);
        line.putObject("figures").put("reads", reads).put("seek_bytes", seekBytes);
        return line;
    }

    private static List<Integer> order(int count, Random random) {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            order.add(i);
        }
        Collections.shuffle(order, random);
        return order;
    }

    /** The model of a disk, with its time. */
    private static final class Disk {
        private double seconds;
        private long reads;
        private int file = -1;
        private long position;

        void read(int which, long start, long end) {
            if (which != file || start != position) {
                seconds += SEEK_SECONDS;
            }
            seconds += (end - start) / BYTES_PER_SECOND;
            file = which;
            position = end;
            reads++;
        }
    }

    /** Every consumer needs its extent of every producer's file; all ask at once, in random order. */
    private static void model(Results results, int producers, int consumers) throws IOException {
        Disk scheduled = new Disk();
        Disk alone = new Disk();
        Random random = new Random(4);
        for (int file = 0; file < producers; file++) {
            Sweep<Integer> sweep =
                    new Sweep<>(SchedulerOptions.DEFAULT.gapBytes(), SchedulerOptions.DEFAULT.readBytes());
            for (int consumer : order(consumers, random)) {
                long start = (long) consumer * EXTENT;
                sweep.add(consumer, start, start + EXTENT);
                alone.read(file, start, start + EXTENT);
            }
            while (!sweep.isEmpty()) {
                Sweep.Read<Integer> read = sweep.next(SchedulerOptions.DEFAULT.budgetBytes());
                scheduled.read(file, read.start(), read.end());
            }
        }
        long bytes = (long) producers * consumers * EXTENT;
        ObjectNode which = JsonNodeFactory.instance.objectNode().put("data", "model-disk").put("producers", producers)
                .put("consumers", consumers).put("extent_bytes", EXTENT).put("seek_us", (int) (SEEK_SECONDS * 1e6))
                .put("disk_mb_per_second", (int) (BYTES_PER_SECOND / 1e6));
        for (boolean together : new boolean[] {true, false}) {
            Disk disk = together ? scheduled : alone;
            ObjectNode line = Results.line("scheduler", together ? "scheduler" : "one-by-one", which,
                    List.of((long) (disk.seconds * 1e9)), bytes);
            line.putObject("figures").put("reads", disk.reads).put("times", alone.seconds / disk.seconds);
            results.append(line);
        }
    }
}
