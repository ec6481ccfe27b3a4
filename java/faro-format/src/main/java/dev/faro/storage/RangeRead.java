package dev.faro.storage;

import java.nio.ByteBuffer;
import java.util.Objects;

/** One of several ranges that {@link StoredFile#readRanges} reads. For one thread at a time. */
public final class RangeRead {
    private final long offset;
    private final int start;
    private final ByteBuffer target;

    /**
     * A read of as many bytes as the buffer has room for.
     *
     * @param offset the offset of the first byte in the file
     * @param target receives the bytes, from its position to its limit; the position moves to the end of what was read
     * @throws IllegalArgumentException if the offset is negative
     */
    public RangeRead(long offset, ByteBuffer target) {
        this.target = Objects.requireNonNull(target, "target");
        if (offset < 0) {
            throw new IllegalArgumentException("offset " + offset);
        }
        this.offset = offset;
        this.start = target.position();
    }

    /** The offset of the first byte in the file. */
    public long offset() {
        return offset;
    }

    /** The buffer that receives the bytes. */
    public ByteBuffer target() {
        return target;
    }

    /** The offset in the file of the next byte to read, which belongs at the position of the buffer. */
    public long next() {
        return offset + target.position() - start;
    }
}
