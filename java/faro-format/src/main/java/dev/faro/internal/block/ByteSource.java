package dev.faro.internal.block;

import dev.faro.FaroException;
import java.nio.ByteBuffer;

/** Where a {@link BlockReader} has the bytes of a file from. For one thread. */
public interface ByteSource {
    /** The memory that {@link #ensure} speaks of: little-endian, and used by index alone, from 0 to its capacity. */
    ByteBuffer buffer();

    /**
     * Makes bytes available, which the caller checked to be within its bounds and limits.
     *
     * @param offset of the first byte in the file
     * @param aheadEnd bytes up to here are worth reading in the same go
     * @return the index of the first byte in {@link #buffer}
     * @throws FaroException {@code truncated} or {@code io}
     */
    int ensure(long offset, int count, long aheadEnd) throws FaroException;

    /** Forgets what was read, since the file may have grown or changed. */
    void clear();
}
