package dev.faro.codec;

/** How a block's payload is compressed. The ordinal is the number in the block header (BLK). */
public enum Codec {
    /** Stored as it is. */
    NONE,
    /** One LZ4 block (COD-2). */
    LZ4,
    /** One Zstandard frame without its magic number (COD-3). */
    ZSTD;

    private static final Codec[] ALL = values();

    /** The number in the block header. */
    public int number() {
        return ordinal();
    }

    /** The codec that has a number, or null if none has it (BLK-5). */
    public static Codec of(int number) {
        return number >= 0 && number < ALL.length ? ALL[number] : null;
    }
}
