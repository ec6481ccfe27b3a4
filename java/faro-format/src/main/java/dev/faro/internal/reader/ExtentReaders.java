package dev.faro.internal.reader;

import dev.faro.Limits;
import dev.faro.codec.Decoder;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.ByteSource;
import dev.faro.internal.block.Dictionaries;
import dev.faro.internal.storage.InputFile;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;

/** Buffers and decoders of cursors that were closed, for those that come. Safe to share between threads. */
public final class ExtentReaders {
    private static final int KEPT = 8;

    private final InputFile file;
    private final UUID fileId;
    private final Limits limits;
    private final boolean verify;
    private final Dictionaries dictionaries;
    private final ArrayBlockingQueue<ExtentReader> free = new ArrayBlockingQueue<>(KEPT);

    /**
     * What reads the blocks of extents, and what decodes them. For one thread.
     *
     * @param blocks reads and checks blocks
     * @param decoder decompresses their payloads
     */
    public record ExtentReader(BlockReader blocks, Decoder decoder) {}

    ExtentReaders(InputFile file, UUID fileId, Limits limits, boolean verify, Dictionaries dictionaries) {
        this.file = file;
        this.fileId = fileId;
        this.limits = limits;
        this.verify = verify;
        this.dictionaries = dictionaries;
    }

    /** One that was given back, or a new one. */
    public ExtentReader take() {
        ExtentReader reader = free.poll();
        if (reader == null) {
            return new ExtentReader(
                    BlockReader.ofExtents(file, fileId, limits, verify).with(dictionaries), new Decoder());
        }
        reader.blocks().refresh();
        return reader;
    }

    /** For blocks whose bytes somebody else reads. */
    public BlockReader blocksOf(ByteSource source) {
        return BlockReader.ofExtents(file, fileId, limits, verify, source).with(dictionaries);
    }

    /** Keeps it, unless there are enough, or it has its bytes from somewhere else. */
    public void giveBack(ExtentReader reader) {
        free.offer(reader);
    }
}
