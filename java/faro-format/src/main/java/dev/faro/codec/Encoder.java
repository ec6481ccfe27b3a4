package dev.faro.codec;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.util.Objects;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Factory;

/** Compresses payloads. It keeps its context, and is not safe for use by several threads at once. */
public final class Encoder implements Closeable {
    /**
     * Blocks of this plain size or more are compressed without a dictionary, because they have enough content of their
     * own to refer to (DIC-7). In bytes.
     */
    public static final int SMALL_BLOCK = 16 << 10;

    private final Codec codec;
    private final int level;
    private final LZ4Compressor lz4;
    private final ZstdCompressCtx zstd;
    /** The context for small blocks, with the dictionary {@link #dictionary}. */
    private ZstdCompressCtx trained;
    private int dictionary;

    /**
     * Makes an encoder.
     *
     * @param codec the codec; with {@link Codec#NONE} the encoder compresses nothing
     * @param level the level of Zstandard, 1 to 19; windows have at most 8 MiB (COD-5)
     */
    public Encoder(Codec codec, int level) {
        this.codec = Objects.requireNonNull(codec, "codec");
        this.level = level;
        this.lz4 = codec == Codec.LZ4 ? LZ4Factory.nativeInstance().fastCompressor() : null;
        this.zstd = codec == Codec.ZSTD ? context(level) : null;
    }

    private static ZstdCompressCtx context(int level) {
        return new ZstdCompressCtx().setLevel(level).setMagicless(true).setContentSize(false).setChecksum(false)
                .setDictID(false);
    }

    /**
     * Compresses small blocks with a dictionary from now on. An encoder of another codec than Zstandard ignores the
     * call.
     *
     * @param bytes the dictionary
     * @param number the number of the dictionary in the file
     * @param minMatch the length of the shortest match to look for, in bytes; 0 for the default of the level
     */
    public void use(byte[] bytes, int number, int minMatch) {
        if (zstd == null) {
            return;
        }
        if (trained == null) {
            trained = context(level);
        }
        if (minMatch > 0) {
            trained.setMinMatch(minMatch);
        }
        if (level == 1) {
            // The table size of level 1 for its smallest inputs: with a dictionary zstd would choose a smaller one, and
            // find less.
            trained.setHashLog(15);
        }
        trained.loadDict(bytes);
        dictionary = number;
    }

    /** The number of the dictionary for a block of {@code plainSize} bytes, or 0. */
    public int dictionaryFor(int plainSize) {
        return plainSize < SMALL_BLOCK ? dictionary : 0;
    }

    /** The codec. */
    public Codec codec() {
        return codec;
    }

    /** The maximum size of the result for {@code plainSize} bytes; may be more than a buffer holds. */
    public long bound(int plainSize) {
        return codec == Codec.LZ4 ? (long) plainSize + plainSize / 255 + 16 : Zstd.compressBound(plainSize);
    }

    /**
     * Compresses the first {@code plainSize} bytes of a direct buffer. The result begins at index {@code at} of
     * {@code target}, which must have room for {@link #bound} bytes.
     *
     * @return the size of the result in bytes, which may be larger than {@code plainSize}
     */
    public int encode(ByteBuffer plain, int plainSize, ByteBuffer target, int at) {
        int room = (int) bound(plainSize);
        if (codec == Codec.LZ4) {
            return lz4.compress(plain, 0, plainSize, target, at, room);
        }
        ZstdCompressCtx context = dictionaryFor(plainSize) == 0 ? zstd : trained;
        return context.compressDirectByteBuffer(target, at, room, plain, 0, plainSize);
    }

    @Override
    public void close() {
        if (zstd != null) {
            zstd.close();
        }
        if (trained != null) {
            trained.close();
        }
    }
}
