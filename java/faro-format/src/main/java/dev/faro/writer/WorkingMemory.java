package dev.faro.writer;

import dev.faro.FileHeader;
import dev.faro.codec.Codec;
import dev.faro.internal.sortbuffer.SortBuffer;
import dev.faro.internal.storage.OutputFile;

/** The memory that a writer needs besides that of its records, from the first of them to the end. */
final class WorkingMemory {
    /** What a partition needs in the extents of a region, the sequences and the statistics, in bytes. */
    private static final long PARTITION = 128;
    /** The memory of a Zstandard compressor at its largest window for blocks, in bytes. */
    private static final long ZSTD = 4 << 20;
    /** Objects, messages and what is small, in bytes. */
    private static final long REST = 256 << 10;

    private WorkingMemory() {}

    /** The size in bytes, from the options alone. */
    static long bytes(FileHeader header, long blockSize, long bufferSize, Codec codec) {
        long blocks = 2 * blockSize;
        long compressing = codec == Codec.NONE ? 0 : blocks + (codec == Codec.ZSTD ? ZSTD : 0);
        return OutputFile.BUFFERS + blocks + compressing + SortBuffer.sortingBytes(header, bufferSize)
                + PARTITION * header.partitionCount() + REST;
    }
}
