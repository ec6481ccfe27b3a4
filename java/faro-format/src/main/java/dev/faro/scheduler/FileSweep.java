package dev.faro.scheduler;

import dev.faro.internal.storage.InputFile;
import dev.faro.plan.Sweep;
import dev.faro.reader.PartitionReader;
import java.util.ArrayDeque;

/**
 * What a scheduler knows of one file; guarded by the scheduler's lock.
 *
 * @param <C> what it knows of a consumer
 */
final class FileSweep<C> {
    final PartitionReader reader;
    final InputFile file;
    final Sweep<C> sweep;
    /** Consumers that have room and no request. */
    final ArrayDeque<C> hungry = new ArrayDeque<>();
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

    FileSweep(PartitionReader reader, SchedulerOptions options) {
        this.reader = reader;
        this.file = reader.output().files().data();
        this.sweep = new Sweep<>(options.gapBytes(), options.readBytes());
    }
}
