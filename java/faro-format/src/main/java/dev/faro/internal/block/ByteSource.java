package dev.faro.internal.block;

import dev.faro.FaroException;
import java.nio.ByteBuffer;

/** Supplies a {@link BlockReader} with the bytes of a file. For one thread. */
public interface ByteSource {
    /** The memory that {@link #ensure} fills: little-endian, and used only by index, from 0 to its capacity. */
    ByteBuffer buffer();

    /**
     * Makes bytes available. The caller has checked them against its bounds and limits.
     *
     * @param offset the offset of the first byte in the file
     * @param aheadEnd bytes before this offset are worth reading with the same system call
     * @return the index of the first byte in {@link #buffer}
     * @throws FaroException {@code truncated} or {@code io}
     */
    int ensure(long offset, int count, long aheadEnd) throws FaroException;

    /** The size of the memory, in bytes. */
    default long memory() {
        ByteBuffer bytes = buffer();
        return bytes == null ? 0 : bytes.capacity();
    }

    /** Discards what was read, because the file may have grown or changed. */
    void clear();

    /** Gives the memory back; the next {@link #ensure} takes it again. */
    void release();
}
