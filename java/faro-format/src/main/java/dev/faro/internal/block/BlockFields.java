package dev.faro.internal.block;

import dev.faro.BlockKind;
import dev.faro.codec.Codec;

/** The header fields of the block that a {@link BlockReader} read last. */
public abstract class BlockFields {
    long offset;
    int stored;
    int plain;
    int partition;
    long sequence;
    int kind;
    Codec codec;
    int dictionary;

    BlockFields() {}

    /** The offset of the block. */
    public long offset() {
        return offset;
    }

    /** The offset of the next block. */
    public long end() {
        return offset + BlockHeader.sizeInFile(stored);
    }

    /** The size of the stored payload in bytes. */
    public int storedSize() {
        return stored;
    }

    /** The size of the plain payload in bytes. */
    public int plainSize() {
        return plain;
    }

    /** The partition in the header, or {@link BlockHeader#NO_PARTITION}. */
    public int partition() {
        return partition;
    }

    /** The block's number in its stream. */
    public long sequence() {
        return sequence;
    }

    /** The block's kind, see {@link BlockKind}. */
    public int kind() {
        return kind;
    }

    /** The block's codec. */
    public Codec codec() {
        return codec;
    }

    /** The number of the dictionary that the block uses, or 0. In a dictionary block, the dictionary's own number. */
    public int dictionary() {
        return dictionary;
    }
}
