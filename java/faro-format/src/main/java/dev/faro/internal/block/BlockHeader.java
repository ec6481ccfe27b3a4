package dev.faro.internal.block;

/** The 24 bytes before the payload of every block: where the fields are, and what follows from the sizes (BLK-1). */
public final class BlockHeader {
    /** Bytes of a block's header. */
    public static final int SIZE = 24;
    /** The partition of shared blocks and metadata: FFFFFFFF as an int. */
    public static final int NO_PARTITION = -1;

    // Where the fields begin, in bytes from the beginning of the block.
    static final int STORED_SIZE = 0;
    static final int PLAIN_SIZE = 4;
    static final int PARTITION = 8;
    /** Where the block's number in its stream begins. */
    public static final int SEQUENCE = 12;
    static final int KIND = 16;
    static final int CODEC = 17;
    static final int DICTIONARY = 18;
    static final int CHECKSUM = 20;

    private BlockHeader() {}

    /** {@code size} rounded up to a multiple of 8 (INT-3). */
    public static long pad8(long size) {
        return (size + 7) & ~7L;
    }

    /** The bytes in the file of a block with that stored size, header and padding included (BLK-1). */
    public static long sizeInFile(long storedSize) {
        return SIZE + pad8(storedSize);
    }
}
