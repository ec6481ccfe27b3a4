package dev.faro.scheduler;

import dev.faro.internal.storage.InputFile;
import dev.faro.plan.Sweep;
import dev.faro.reader.PartitionReader;
import java.util.ArrayDeque;

/**
 * The state of one file in its scheduler. The scheduler's lock guards it.
 *
 * @param <C> the state of a consumer
 */
final class FileSweep<C> {
    final PartitionReader reader;
    final InputFile file;
    final Sweep<C> sweep;
    /** Consumers with room and without a request. */
    final ArrayDeque<C> hungry = new ArrayDeque<>();
    /** The number of open consumers. */
    int open;
    /** Whether the file is waiting to be served, or is being served. */
    boolean queued;
    /** Whether new work arrived while the file was being served. */
    boolean hasNewWork;
    /** Whether a request is waiting for memory. */
    boolean starved;
    /** How often more regions may have come. */
    long growths;
    /** The offset where the last read ended. */
    long position;

    FileSweep(PartitionReader reader, SchedulerOptions options) {
        this.reader = reader;
        this.file = reader.output().files().data();
        this.sweep = new Sweep<>(options.gapBytes(), options.readBytes());
    }
}
