package dev.faro.scheduler;

import static dev.faro.scheduler.SchedulerTest.PARTITIONS;
import static dev.faro.scheduler.SchedulerTest.openAll;
import static dev.faro.scheduler.SchedulerTest.openEven;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.codec.Codec;
import dev.faro.reader.Feed;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.scheduler.SchedulerTest.Counting;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingFileSystem;
import dev.faro.testing.Scrambled;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What docs/scheduler.md promises about options, polling, closing and memory. */
@Timeout(120)
class SchedulerPromisesTest {
    private final RecordingFileSystem system = new RecordingFileSystem();

    @TempDir
    Path folder;

    private static void assertRefused(int gap, int read, long budget) {
        FaroException e = assertThrows(
                FaroException.class, () -> new Scheduler(SchedulerOptions.DEFAULT.withGapBytes(gap).withReadBytes(read)
                        .withBudgetBytes(budget)).close());
        assertEquals(ErrorCode.INVALID_ARGUMENT, e.code());
    }

    @Test
    void sizesOutOfRangeAreRefused() throws Exception {
        new Scheduler(SchedulerOptions.DEFAULT.withGapBytes(0).withReadBytes(4096).withBudgetBytes(4096)).close();
        new Scheduler(SchedulerOptions.DEFAULT.withGapBytes(1 << 30).withReadBytes(1 << 30)
                .withBudgetBytes(1L << 40)).close();
        assertRefused(-1, 4096, 4096);
        assertRefused((1 << 30) + 1, 4096, 4096);
        assertRefused(0, 4095, 4096);
        assertRefused(0, 0, 4096);
        assertRefused(0, (1 << 30) + 1, 4096);
        assertRefused(0, 4096, 4095);
        assertRefused(0, 4096, 0);
        assertRefused(0, 4096, -1);
        assertRefused(0, 4096, (1L << 40) + 1);
    }

    /** Opens an output that is compressed with dictionaries, which are read when a payload is decoded. */
    private Reader openWithDictionaries() throws FaroException {
        WriterOptions options = new WriterOptions(PARTITIONS).codec(Codec.ZSTD).dictionaries(true).blockSize(2000);
        try (Writer writer = Writer.create(folder.resolve("dictionaries"), options)) {
            for (int i = 0; i < 60_000; i++) {
                writer.write(i % PARTITIONS, Outputs.bytes("harbour lantern keeper " + i * 97));
            }
            writer.finish();
        }
        List<Path> files =
                Outputs.files(folder.resolve("dictionaries"), Layout.PAIRED).stream().map(system::path).toList();
        return Reader.openPair(files.get(0), files.get(1), ReaderOptions.DEFAULT);
    }

    /** Opening and polling read nothing in the calling thread, whatever has to be read: the executor does it. */
    @Test
    void pollReadsNothing() throws Exception {
        ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
        AtomicInteger here = new AtomicInteger();
        AtomicInteger elsewhere = new AtomicInteger();
        try (Reader even = openEven(folder, system);
                Reader dictionaries = openWithDictionaries();
                Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT.withGapBytes(0).withReadBytes(4096)
                        .withBudgetBytes(100_000), tasks::add)) {
            assertTrue(dictionaries.dictionaryCount() > 0);
            Thread caller = Thread.currentThread();
            system.hook(call -> (Thread.currentThread() == caller ? here : elsewhere).incrementAndGet());
            List<Consumer> open = openAll(scheduler, even);
            open.addAll(openAll(scheduler, dictionaries));
            open.add(scheduler.range(even, 0, PARTITIONS));
            int blocks = 0;
            while (!open.isEmpty()) {
                for (int i = open.size() - 1; i >= 0; i--) {
                    Feed.State state = open.get(i).poll();
                    blocks += state == Feed.State.BLOCK ? 1 : 0;
                    if (state == Feed.State.END) {
                        open.remove(i).close();
                    }
                }
                Thread reading = new Thread(() -> {
                    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                        task.run();
                    }
                });
                reading.start();
                reading.join();
            }
            assertTrue(blocks > 2 * SchedulerTest.REGIONS * PARTITIONS, blocks + " blocks");
            assertEquals(0, here.get(), "reads in the thread that polls");
            assertTrue(elsewhere.get() > 2 * SchedulerTest.REGIONS, elsewhere + " reads");
        }
    }

    /** Without an executor: a caller that polls without a result serves until there is nothing to do. */
    @Test
    void pollingCallersServeUntilNothingIsLeft() throws Exception {
        SchedulerOptions narrow = SchedulerOptions.DEFAULT.withGapBytes(0).withReadBytes(4096).withBudgetBytes(20_000);
        try (Reader reader = openEven(folder, system); Scheduler scheduler = new Scheduler(narrow)) {
            List<Consumer> consumers = openAll(scheduler, reader);
            List<List<String>> found = new ArrayList<>();
            ArrayDeque<Integer> notified = new ArrayDeque<>();
            for (int i = 0; i < PARTITIONS; i++) {
                int which = i;
                found.add(new ArrayList<>());
                consumers.get(i).onReady(() -> notified.add(which));
                notified.add(i);
            }
            int ends = 0;
            while (!notified.isEmpty()) {
                int which = notified.remove();
                Feed.State state = consumers.get(which).poll();
                while (state == Feed.State.BLOCK) {
                    found.get(which).add(Scrambled.describe(consumers.get(which).block()));
                    state = consumers.get(which).poll();
                }
                if (state == Feed.State.END) {
                    ends++;
                    consumers.get(which).onReady(() -> {});
                    notified.removeAll(List.of(which));
                }
                while (scheduler.serve()) {}
            }
            assertEquals(PARTITIONS, ends, "all readings end");
            for (int i = 0; i < PARTITIONS; i++) {
                assertEquals(Scrambled.transcript(reader.partition(i)), found.get(i));
            }
        }
    }

    /** A thread that waits for bytes that never arrive, because no task is run. */
    private static CompletableFuture<Boolean> waiting(Consumer consumer) throws InterruptedException {
        CompletableFuture<Boolean> next = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                next.complete(consumer.next());
            } catch (Throwable e) {
                next.completeExceptionally(e);
            }
        });
        thread.start();
        while (thread.getState() != Thread.State.WAITING && !next.isDone()) {
            Thread.onSpinWait();
        }
        return next;
    }

    private static void assertEndsWithIo(CompletableFuture<Boolean> next) {
        ExecutionException e = assertThrows(ExecutionException.class, () -> next.get(20, TimeUnit.SECONDS));
        assertEquals(ErrorCode.IO, ((FaroException) e.getCause()).code());
    }

    @Test
    void closingEndsAWait() throws Exception {
        try (Reader reader = openEven(folder, system)) {
            Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT, task -> {});
            Consumer first = scheduler.partition(reader, 1);
            Consumer second = scheduler.partition(reader, 2);
            CompletableFuture<Boolean> one = waiting(first);
            CompletableFuture<Boolean> two = waiting(second);
            first.close();
            assertEndsWithIo(one);
            scheduler.close();
            assertEndsWithIo(two);
            assertEquals(ErrorCode.IO, assertThrows(FaroException.class, first::poll).code());
            assertEquals(ErrorCode.IO, assertThrows(FaroException.class, second::poll).code());
        }
    }

    /** The buffers of a failed reading come back when the fault is reported, not when the consumer is closed. */
    @Test
    void memoryOfFailedReadingsComesBack() throws Exception {
        Counting buffers = new Counting(1000);
        try (Reader reader = openEven(folder, system);
                Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT, null, buffers)) {
            // The third block of each partition in region 0 is damaged, with more blocks after it.
            try (FileChannel file = FileChannel.open(folder.resolve("even.data"), StandardOpenOption.WRITE)) {
                for (int i = 0; i < PARTITIONS; i++) {
                    file.write(ByteBuffer.wrap(new byte[] {77}), reader.region(0).start(i) + 30);
                }
            }
            List<Consumer> consumers = openAll(scheduler, reader);
            while (scheduler.serve()) {}
            assertTrue(buffers.out() > PARTITIONS);
            for (Consumer consumer : consumers) {
                assertEquals(ErrorCode.CHECKSUM, assertThrows(FaroException.class, consumer::next).code());
            }
            assertEquals(0, buffers.out());
            assertEquals(ErrorCode.CHECKSUM, assertThrows(FaroException.class, consumers.get(3)::poll).code());
        }
    }

    /** Reads eight partitions of 2 MB with the scheduler's own memory, in a process that has little. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) throws Exception {
            ExecutorService executor = Executors.newFixedThreadPool(2, task -> {
                Thread thread = new Thread(task);
                thread.setDaemon(true);
                thread.setUncaughtExceptionHandler((dead, e) -> System.out.println("out of a step: " + e));
                return thread;
            });
            try (Reader reader = Reader.openPair(Path.of(arguments[0]), Path.of(arguments[1]), ReaderOptions.DEFAULT)) {
                read(reader, new Scheduler(SchedulerOptions.DEFAULT, executor));
                read(reader, new Scheduler(SchedulerOptions.DEFAULT));
            }
        }

        private static void read(Reader reader, Scheduler scheduler) throws FaroException {
            List<Consumer> consumers = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                consumers.add(scheduler.partition(reader, i));
            }
            List<String> ends = new ArrayList<>();
            for (Consumer consumer : consumers) {
                try (consumer) {
                    while (consumer.next()) {}
                    ends.add("data");
                } catch (Throwable e) {
                    ends.add(e.toString().contains("OutOfMemoryError") ? "cause" : e.toString());
                }
            }
            Collections.sort(ends);
            System.out.println(ends);
        }
    }

    @Test
    void littleDirectMemory() throws Exception {
        Path name = folder.resolve("large");
        try (Writer writer = Writer.create(name, new WriterOptions(8))) {
            for (int i = 0; i < 16_000; i++) {
                writer.write(i % 8, ByteBuffer.allocate(1000));
            }
            writer.finish();
        }
        Path output = folder.resolve("output");
        Process child = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:MaxDirectMemorySize=2m",
                "-cp", System.getProperty("java.class.path"), Child.class.getName(),
                Outputs.file(name, ".data").toString(), Outputs.file(name, ".index").toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended = child.waitFor(30, TimeUnit.SECONDS);
        child.destroyForcibly();
        String printed = Files.readString(output, StandardCharsets.UTF_8);
        assertTrue(ended, "it waits: " + printed);
        List<String> ends = printed.lines().filter(line -> line.startsWith("[")).toList();
        assertEquals(2, ends.size(), printed);
        assertTrue(ends.stream().allMatch(line -> line.matches("\\[(data|cause)(, (data|cause)){7}\\]")), printed);
        assertTrue(printed.contains("out of a step: java.lang.OutOfMemoryError"), printed);
    }
}
