package dev.faro.storage;

import java.nio.ByteBuffer;
import java.util.Objects;

/** A file in memory. Several readers may share it: closing it does nothing. */
public final class MemoryFile implements StoredFile {
    private final String name;
    private final ByteBuffer bytes;

    /**
     * Makes a file of bytes that the caller does not change any more.
     *
     * @param name the name for people
     * @param bytes the content, from the position to the limit; it is not copied
     */
    public MemoryFile(String name, ByteBuffer bytes) {
        this.name = Objects.requireNonNull(name, "name");
        this.bytes = Objects.requireNonNull(bytes, "bytes").slice().asReadOnlyBuffer();
    }

    @Override
    public long size() {
        return bytes.limit();
    }

    @Override
    public int read(long offset, ByteBuffer target) {
        if (offset < 0) {
            throw new IllegalArgumentException("offset " + offset);
        }
        if (offset >= bytes.limit()) {
            return -1;
        }
        int at = target.position();
        int count = (int) Math.min(target.remaining(), bytes.limit() - offset);
        target.put(at, bytes, (int) offset, count);
        target.position(at + count);
        return count;
    }

    /** 256 KiB, because a reader copies what it asks for. */
    @Override
    public int readBytes() {
        return 256 << 10;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void close() {}
}
