package dev.faro.file;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC-32C (INT-6) over parts of a buffer. One per owner; not for several threads at once. */
public final class Checksum {
    private final CRC32C crc = new CRC32C();

    /** Begins anew. */
    public Checksum reset() {
        crc.reset();
        return this;
    }

    /** Takes in {@code length} bytes of the buffer from index {@code at}; position and limit are left as they were. */
    public Checksum add(ByteBuffer buffer, int at, int length) {
        int position = buffer.position();
        int limit = buffer.limit();
        buffer.limit(at + length).position(at);
        crc.update(buffer);
        buffer.limit(limit).position(position);
        return this;
    }

    /** The checksum of what was taken in, as the 32 bits that a file holds. */
    public int value() {
        return (int) crc.getValue();
    }
}
