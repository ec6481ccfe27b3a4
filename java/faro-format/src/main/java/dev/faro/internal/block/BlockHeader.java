package dev.faro.internal.block;

/**
 * The 24 bytes before the payload of every block (BLK-1): the offsets of the fields, and the sizes that follow from
 * them.
 */
public final class BlockHeader {
    /** The size of a block header in bytes. */
    public static final int SIZE = 24;
    /** The partition of shared blocks and metadata: FFFFFFFF as an int. */
    public static final int NO_PARTITION = -1;

    // The offsets of the fields from the beginning of the block, in bytes.
    static final int STORED_SIZE = 0;
    static final int PLAIN_SIZE = 4;
    /** The offset of the partition. */
    public static final int PARTITION = 8;
    /** The offset of the sequence. */
    public static final int SEQUENCE = 12;
    /** The offset of the kind; codec and dictionary follow within four bytes. */
    public static final int KIND = 16;
    static final int CODEC = 17;
    static final int DICTIONARY = 18;
    static final int CHECKSUM = 20;

    private BlockHeader() {}

    /** {@code size} rounded up to a multiple of 8 (INT-3). */
    public static long pad8(long size) {
        return (size + 7) & ~7L;
    }

    /** The size in the file of a block with this stored size, with header and padding (BLK-1). */
    public static long sizeInFile(long storedSize) {
        return SIZE + pad8(storedSize);
    }
}
