package dev.faro.flink;

import dev.faro.index.RegionCache;
import dev.faro.reader.PartitionReader;
import dev.faro.reader.ReaderOptions;
import dev.faro.scheduler.Scheduler;
import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.Executor;

/** Reads all outputs of a task manager, with Flink's threads for reads, one memory, and one scheduler. */
final class OutputReads implements Closeable {
    /** The number of bytes of an output, as stored, that may be read in the thread of a channel. */
    static final int DIRECT_BYTES = 64 << 10;
    /** The memory for the messages of regions of all outputs that are open. */
    private static final long REGION_BYTES = 64 << 20;

    private final Executor executor;
    private final ReaderOptions readerOptions;
    private final ReadMemory memory;
    private final boolean consumersDecompress;
    private final Decoders decoders;
    private final Scheduler scheduler;
    private final OpenOutputs open;

    /**
     * Makes the reads of a task manager.
     *
     * @param executor runs reads, and makes buffers
     * @param decoders decompress the data for consumers in this task manager
     * @param consumersDecompress whether consumers can decompress the codec of the blocks
     * @param open keeps outputs open
     */
    OutputReads(Executor executor, ReadMemory memory, Decoders decoders, boolean consumersDecompress,
            OpenOutputs open) {
        this.executor = executor;
        this.memory = memory;
        this.decoders = decoders;
        this.consumersDecompress = consumersDecompress;
        this.open = open;
        try {
            this.readerOptions = ReaderOptions.DEFAULT.withRegionCache(new RegionCache(REGION_BYTES));
            this.scheduler = new Scheduler(memory.scheduling(), executor);
        } catch (IOException e) {
            throw new IllegalArgumentException("the sizes for reading are out of range", e);
        }
    }

    Executor executor() {
        return executor;
    }

    ReadMemory memory() {
        return memory;
    }

    /** How outputs are opened: they share one memory for the messages of regions. */
    ReaderOptions readerOptions() {
        return readerOptions;
    }

    /** The outputs that stay open while no view reads them. */
    OpenOutputs openOutputs() {
        return open;
    }

    /**
     * Opens a reading of the subpartitions in [from, to). Data for the network stays compressed, as it does with
     * Flink's own shuffle; data for local consumers is decompressed here.
     *
     * @param local whether the consumer is in this task manager
     * @throws IOException if the output does not have the subpartitions, or this is closed
     */
    BufferReading open(PartitionReader output, int from, int to, boolean local) throws IOException {
        return reading(BlockSource.of(scheduler.range(output, from, to)), to - from, local);
    }

    /**
     * Opens a reading as {@link #open(PartitionReader, int, int, boolean)}, of an output whose bytes are in memory.
     *
     * @throws IOException if the output does not have the subpartitions
     */
    BufferReading openInMemory(PartitionReader output, int from, int to, boolean local) throws IOException {
        return reading(BlockSource.of(output.range(from, to)), to - from, local);
    }

    /**
     * Makes a reading of blocks.
     *
     * @param subpartitions how often blocks that are stored once are delivered
     * @param local whether the consumer is in this task manager
     */
    BufferReading reading(BlockSource source, int subpartitions, boolean local) {
        return new BufferReading(source, subpartitions, memory, decoders, consumersDecompress && !local);
    }

    /** Ends all reads with an error. */
    @Override
    public void close() {
        try {
            scheduler.close();
        } finally {
            open.close();
        }
    }
}
