package dev.faro.internal.block;

import dev.faro.BlockKind;

/** What the header says of the block that a {@link BlockReader} read last. */
public abstract class BlockFields {
    long offset;
    int stored;
    int plain;
    int partition;
    long sequence;
    int kind;
    int codec;
    int dictionary;

    BlockFields() {}

    /** Where the block begins. */
    public long offset() {
        return offset;
    }

    /** Where the next block begins. */
    public long end() {
        return offset + BlockHeader.sizeInFile(stored);
    }

    /** Bytes of the payload as stored. */
    public int storedSize() {
        return stored;
    }

    /** Bytes of the payload when decompressed. */
    public int plainSize() {
        return plain;
    }

    /** The partition that the block bears, or {@link BlockHeader#NO_PARTITION}. */
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

    /** The number of the block's codec. */
    public int codec() {
        return codec;
    }

    /** The number of the block's dictionary, or 0; of a dictionary block, its own. */
    public int dictionary() {
        return dictionary;
    }
}
