package dev.faro.internal.reader;

import dev.faro.Limits;
import dev.faro.MemoryBudget;
import dev.faro.codec.Decoder;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.ByteSource;
import dev.faro.internal.block.Dictionaries;
import dev.faro.internal.storage.InputFile;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;

/** Keeps the buffers and decoders of closed cursors for the next ones. Safe to share between threads. */
public final class ExtentReaders {
    private static final int KEPT = 8;

    private final InputFile file;
    private final UUID fileId;
    private final Limits limits;
    private final boolean verify;
    private final Dictionaries dictionaries;
    private final MemoryBudget budget;
    private volatile boolean closed;
    private final ArrayBlockingQueue<ExtentReader> free = new ArrayBlockingQueue<>(KEPT);

    /**
     * Reads and decodes the blocks of extents. For one thread.
     *
     * @param blocks reads and checks blocks
     * @param decoder decompresses payloads
     */
    public record ExtentReader(BlockReader blocks, Decoder decoder) {}

    /** @param budget is asked for the cursors' buffers; null if everything is granted */
    ExtentReaders(InputFile file, UUID fileId, Limits limits, boolean verify, Dictionaries dictionaries,
            MemoryBudget budget) {
        this.file = file;
        this.fileId = fileId;
        this.limits = limits;
        this.verify = verify;
        this.dictionaries = dictionaries;
        this.budget = budget;
    }

    /** Returns a kept reader, or a new one. */
    public ExtentReader take() {
        ExtentReader reader = free.poll();
        if (reader == null) {
            return new ExtentReader(
                    BlockReader.ofExtents(file, fileId, limits, verify, budget).with(dictionaries), new Decoder());
        }
        reader.blocks().refresh();
        return reader;
    }

    /** Makes a reader of blocks that another class reads from the file. */
    public BlockReader blocksOf(ByteSource source) {
        return BlockReader.ofExtents(file, fileId, limits, verify, source).with(dictionaries);
    }

    /** The size of the kept buffers, in bytes. */
    long memory() {
        return free.stream().mapToLong(reader -> reader.blocks().memory()).sum();
    }

    /** Forgets the kept readers. */
    void close() {
        closed = true;
        free.clear();
    }

    /** Keeps a reader from {@link #take}, unless enough are kept. With a budget, it is kept without its buffer. */
    public void giveBack(ExtentReader reader) {
        try {
            if (budget != null) {
                reader.blocks().release();
            }
        } finally {
            if (!closed) {
                free.offer(reader);
            }
            if (closed) {
                // Closed in between.
                free.clear();
            }
        }
    }
}
