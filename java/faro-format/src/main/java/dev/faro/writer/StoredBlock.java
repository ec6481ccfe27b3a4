package dev.faro.writer;

import dev.faro.codec.Codec;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * A block that is already in its stored form, for {@link RegionWriter#storedBlock}. Immutable, except that the payload
 * is the caller's buffer: {@code StoredBlock.of(BlockKind.DATA, Codec.ZSTD, plainSize, payload).withDictionary(1)}.
 */
public final class StoredBlock {
    private final int kind;
    private final Codec codec;
    private final long plainSize;
    private final ByteBuffer payload;
    private final int dictionary;

    private StoredBlock(int kind, Codec codec, long plainSize, ByteBuffer payload, int dictionary) {
        this.kind = kind;
        this.codec = codec;
        this.plainSize = plainSize;
        this.payload = Objects.requireNonNull(payload, "payload");
        this.dictionary = dictionary;
    }

    /**
     * A block without a dictionary. The region writer checks it.
     *
     * @param kind 0, 1 or 64 to 127 (BLK-2)
     * @param codec how the payload is compressed
     * @param plainSize the size of the plain payload in bytes
     * @param payload the stored payload, from the buffer's position to its limit
     */
    public static StoredBlock of(int kind, Codec codec, long plainSize, ByteBuffer payload) {
        return new StoredBlock(kind, codec, plainSize, payload, 0);
    }

    /** The block's kind, see {@link dev.faro.BlockKind}. */
    public int kind() {
        return kind;
    }

    /** How the payload is compressed. */
    public Codec codec() {
        return codec;
    }

    /** The size of the plain payload in bytes. */
    public long plainSize() {
        return plainSize;
    }

    /** The stored payload, from the buffer's position to its limit. */
    public ByteBuffer payload() {
        return payload;
    }

    /**
     * The number of the dictionary in the written file that the payload was compressed with, from
     * {@link Writer#dictionary}; 0 for none.
     */
    public int dictionary() {
        return dictionary;
    }

    /** The same block with another {@link #dictionary}. */
    public StoredBlock withDictionary(int other) {
        return new StoredBlock(kind, codec, plainSize, payload, other);
    }
}
