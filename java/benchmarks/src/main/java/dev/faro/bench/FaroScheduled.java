package dev.faro.bench;

import dev.faro.FaroException;
import dev.faro.reader.Feed;
import dev.faro.reader.Reader;
import dev.faro.scheduler.Consumer;
import dev.faro.scheduler.Scheduler;
import dev.faro.scheduler.SchedulerOptions;
import java.nio.file.Path;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/** Faro's scheduler, used as Flink's reader is: several partitions at once, one thread that reads, one that takes. */
public final class FaroScheduled extends FaroRead {
    private final int partitions;
    private final int atOnce;
    private final ExecutorService executor = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "faro-read");
        thread.setDaemon(true);
        return thread;
    });

    /** Reads as {@link FaroRead} does, {@code atOnce} partitions at once. */
    public FaroScheduled(WriteCase writeCase, int atOnce, Path folder) throws FaroException {
        super(writeCase, true, folder);
        this.partitions = writeCase.partitions();
        this.atOnce = atOnce;
    }

    @Override
    public String name() {
        return "faro-scheduler";
    }

    @Override
    long read(Reader reader) throws Exception {
        BlockingQueue<Consumer> ready = new LinkedBlockingQueue<>();
        long bytes = 0;
        try (Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT, executor)) {
            int opened = 0;
            while (opened < Math.min(partitions, atOnce)) {
                open(scheduler, reader, opened++, ready);
            }
            // A listener may be called once more than needed, even after its consumer has ended.
            Set<Consumer> ended = Collections.newSetFromMap(new IdentityHashMap<>());
            while (ended.size() < partitions) {
                Consumer consumer = ready.take();
                if (ended.contains(consumer)) {
                    continue;
                }
                Feed.State state = consumer.poll();
                while (state == Feed.State.BLOCK) {
                    bytes += consumer.block().payload().remaining();
                    state = consumer.poll();
                }
                if (state == Feed.State.END) {
                    consumer.close();
                    ended.add(consumer);
                    if (opened < partitions) {
                        open(scheduler, reader, opened++, ready);
                    }
                }
            }
        }
        return bytes;
    }

    private static void open(Scheduler scheduler, Reader reader, int partition, BlockingQueue<Consumer> ready)
            throws FaroException {
        Consumer consumer = scheduler.partition(reader, partition);
        consumer.onReady(() -> ready.add(consumer));
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
