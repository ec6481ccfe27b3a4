package dev.faro.scheduler;

import dev.faro.file.InputFile;
import dev.faro.reader.PartitionReader;
import java.util.ArrayDeque;

/** What a scheduler knows of one file; guarded by the scheduler's lock. */
final class FileSweep {
    final PartitionReader dataset;
    final InputFile file;
    final Sweep<Consumer> sweep;
    /** Consumers that have room and no request. */
    final ArrayDeque<Consumer> hungry = new ArrayDeque<>();
    /** Consumers that are open. */
    int open;
    /** Whether it waits to be served, or is being served. */
    boolean queued;
    /** Whether something came to do while it was being served. */
    boolean again;
    /** Whether a request waits for memory. */
    boolean starved;
    /** Where the last read ended. */
    long position;

    FileSweep(PartitionReader dataset, SchedulerOptions options) {
        this.dataset = dataset;
        this.file = dataset.dataFile();
        this.sweep = new Sweep<>(options.gapBytes(), options.readBytes());
    }
}
