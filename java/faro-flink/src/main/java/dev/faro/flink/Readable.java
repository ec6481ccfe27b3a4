package dev.faro.flink;

import java.io.IOException;

/** What a view reads: a finished output, or one that is being written. */
interface Readable {
    /** The threads and the memory of all reads. */
    OutputReads reads();

    /** Whether few bytes are left to read, which are in memory: then a channel's thread may read them itself. */
    boolean isDirect();

    /** The size of a network buffer in bytes. */
    int bufferSize();

    /**
     * Opens a reading of the subpartitions in [from, to).
     *
     * @param local whether the consumer is in this task manager
     * @throws IOException with a {@link org.apache.flink.runtime.io.network.partition.PartitionNotFoundException} as cause
     *     if the partition was released; or a fault of the files
     */
    BufferReading open(int from, int to, boolean local) throws IOException;

    /** The error that a consumer gets when reading fails. */
    Throwable failureOf(Throwable fault);

    /** Says that a view has ended. */
    void remove(FaroSubpartitionView view);
}
