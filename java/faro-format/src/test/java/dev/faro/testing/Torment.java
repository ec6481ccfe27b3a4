package dev.faro.testing;

import dev.faro.FaroException;
import dev.faro.codec.Codec;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.PartitionReader;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.CRC32C;

/** An output that takes a while to read, and ways to read it with threads. */
public final class Torment {
    public static final int PARTITIONS = 16;
    public static final int REGIONS = 12;

    private Torment() {}

    public static WriterOptions options(Layout layout) {
        return new WriterOptions(PARTITIONS).layout(layout).fileId(new UUID(layout.ordinal(), 77)).blockSize(8 << 10)
                .codec(Codec.ZSTD).ordered(false);
    }

    /** Writes one region, drawn from one seed, and closes it. */
    public static void region(Writer writer, int number) throws FaroException {
        Random random = new Random(number);
        for (int i = 0; i < 60; i++) {
            byte[] record = new byte[random.nextInt(16 << 10)];
            if (i % 3 != 0) {
                random.nextBytes(record);
            }
            ByteBuffer bytes = ByteBuffer.wrap(record);
            switch (random.nextInt(12)) {
                case 0 -> writer.broadcast(bytes);
                case 1 -> writer.multicast(new int[] {random.nextInt(PARTITIONS), i % PARTITIONS}, bytes);
                case 2 -> writer.writeEvent(i % PARTITIONS, 1, ByteBuffer.wrap(record, 0, record.length / 100));
                default -> writer.write(random.nextInt(PARTITIONS), bytes);
            }
        }
        writer.flush();
    }

    public static void write(Path name, Layout layout) throws FaroException {
        try (Writer writer = Writer.create(name, options(layout))) {
            for (int i = 0; i < REGIONS; i++) {
                region(writer, i);
            }
            writer.finish();
        }
    }

    /** The checksums of a cursor's blocks, each over all blocks so far. */
    public static List<Long> read(BlockCursor blocks) throws FaroException {
        List<Long> prefixes = new ArrayList<>();
        CRC32C crc = new CRC32C();
        try (blocks) {
            while (blocks.next()) {
                crc.update(blocks.kind());
                crc.update(blocks.partition());
                crc.update(blocks.framedPayload());
                prefixes.add(crc.getValue());
            }
        }
        return prefixes;
    }

    /** What each partition reads, followed by a range and by all partitions. */
    public static List<List<Long>> readEach(PartitionReader reader) throws FaroException {
        List<List<Long>> each = new ArrayList<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            each.add(read(reader.partition(partition)));
        }
        each.add(read(reader.range(3, 11)));
        each.add(read(reader.all()));
        return each;
    }

    /** Reads one of the entries of {@link #readEach}. */
    public static List<Long> readOne(PartitionReader reader, int which) throws FaroException {
        return which < PARTITIONS ? read(reader.partition(which))
                : read(which == PARTITIONS ? reader.range(3, 11) : reader.all());
    }

    /** Runs all tasks at once, and throws the first failure. */
    public static void runAll(List<? extends Callable<?>> tasks) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
        try {
            List<Future<?>> running = new ArrayList<>();
            for (Callable<?> task : tasks) {
                running.add(threads.submit(task));
            }
            for (Future<?> one : running) {
                one.get();
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception known ? known : e;
        } finally {
            threads.shutdownNow();
        }
    }
}
