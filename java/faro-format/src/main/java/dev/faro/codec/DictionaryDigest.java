package dev.faro.codec;

import com.github.luben.zstd.ZstdDictDecompress;
import java.nio.ByteBuffer;

/** A Zstandard dictionary that is ready for decoders. Decoders in several threads may share it. */
public final class DictionaryDigest {
    /** The minimum size of a dictionary in bytes (DIC-4). */
    public static final int LEAST = 8;
    /** The bytes 37 A4 30 EC as a little-endian number. */
    private static final int MAGIC = 0xEC30A437;

    private final ZstdDictDecompress digest;

    private DictionaryDigest(ZstdDictDecompress digest) {
        this.digest = digest;
    }

    /**
     * Digests a dictionary.
     *
     * @return null if the decoder refuses it
     */
    public static DictionaryDigest of(byte[] dictionary) {
        try {
            return new DictionaryDigest(new ZstdDictDecompress(dictionary));
        } catch (IllegalStateException e) {
            return null;
        }
    }

    /**
     * Whether the bytes begin as a dictionary does, and have the minimum size (DIC-4).
     *
     * @param bytes little-endian, read from 0 to its limit
     */
    public static boolean isDictionary(ByteBuffer bytes) {
        return bytes.limit() >= LEAST && bytes.getInt(0) == MAGIC;
    }

    ZstdDictDecompress digest() {
        return digest;
    }
}
