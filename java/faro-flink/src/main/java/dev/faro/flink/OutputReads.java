package dev.faro.flink;

import dev.faro.reader.Dataset;
import dev.faro.scheduler.Consumer;
import dev.faro.scheduler.Scheduler;
import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.Executor;

/** What all outputs of a task manager are read with: Flink's threads for reads, one memory, and one scheduler in it. */
final class OutputReads implements Closeable {
    private final Executor executor;
    private final ReadMemory memory;
    private final boolean handsOnCompressed;
    private final Scheduler scheduler;

    /**
     * Reads of outputs, of which none is open yet.
     *
     * @param executor runs reads, and makes buffers
     * @param handsOnCompressed whether consumers decompress what blocks are compressed with
     */
    OutputReads(Executor executor, ReadMemory memory, boolean handsOnCompressed) {
        this.executor = executor;
        this.memory = memory;
        this.handsOnCompressed = handsOnCompressed;
        this.scheduler = new Scheduler(memory.scheduling(), executor);
    }

    Executor executor() {
        return executor;
    }

    ReadMemory memory() {
        return memory;
    }

    /**
     * Opens a reading of the subpartitions from {@code from} to before {@code to}.
     *
     * @throws IOException if the output does not have them, or this is closed
     */
    BufferReading open(Dataset output, int from, int to) throws IOException {
        Consumer consumer = scheduler.open(output, from, to);
        return new BufferReading(consumer, to - from, memory, handsOnCompressed);
    }

    /** Ends all reads with an error. */
    @Override
    public void close() {
        scheduler.close();
    }
}
