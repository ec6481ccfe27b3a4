package dev.faro.codec;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import java.io.Closeable;
import java.nio.ByteBuffer;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Factory;

/** Compresses payloads, keeping its context. One per owner; not for several threads at once. */
public final class Encoder implements Closeable {
    /** Blocks of so many plain bytes or more have enough of a past of their own: no dictionary is for them (DIC-7). */
    public static final int SMALL_BLOCK = 16 << 10;

    private final int codec;
    private final int level;
    private final LZ4Compressor lz4;
    private final ZstdCompressCtx zstd;
    /** For small blocks, with the dictionary of that number. */
    private ZstdCompressCtx trained;
    private int dictionary;

    /**
     * An encoder.
     *
     * @param codec {@link Decoder#NONE}, {@link Decoder#LZ4} or {@link Decoder#ZSTD}
     * @param level level of Zstandard, 1 to 19, whose windows are 8 MiB at most (COD-5)
     */
    public Encoder(int codec, int level) {
        this.codec = codec;
        this.level = level;
        this.lz4 = codec == Decoder.LZ4 ? LZ4Factory.nativeInstance().fastCompressor() : null;
        this.zstd = codec == Decoder.ZSTD ? context(level) : null;
    }

    private static ZstdCompressCtx context(int level) {
        return new ZstdCompressCtx().setLevel(level).setMagicless(true).setContentSize(false).setChecksum(false)
                .setDictID(false);
    }

    /**
     * Compresses small blocks with a dictionary from now on; only an encoder of Zstandard does.
     *
     * @param number of the dictionary in the file
     * @param leastMatch bytes of the shortest match that is looked for; 0 for what the level says
     */
    public void use(byte[] bytes, int number, int leastMatch) {
        if (zstd == null) {
            return;
        }
        if (trained == null) {
            trained = context(level);
        }
        if (leastMatch > 0) {
            trained.setMinMatch(leastMatch);
        }
        if (level == 1) {
            // As level 1 has it for its smallest inputs: with a dictionary it would take less, and find less.
            trained.setHashLog(15);
        }
        trained.loadDict(bytes);
        dictionary = number;
    }

    /** The number of the dictionary that a block of so many plain bytes is compressed with, or 0. */
    public int dictionaryFor(int plainSize) {
        return plainSize < SMALL_BLOCK ? dictionary : 0;
    }

    /** The number of the codec. */
    public int codec() {
        return codec;
    }

    /** Bytes that compressing so many may take at most; may exceed what a buffer holds. */
    public long bound(int plainSize) {
        return codec == Decoder.LZ4 ? (long) plainSize + plainSize / 255 + 16 : Zstd.compressBound(plainSize);
    }

    /**
     * Compresses {@code plainSize} bytes from the start of a direct buffer to index {@code at} of another, which has
     * room for {@link #bound} bytes.
     *
     * @return the compressed size, not always smaller
     */
    public int encode(ByteBuffer plain, int plainSize, ByteBuffer target, int at) {
        int room = (int) bound(plainSize);
        if (codec == Decoder.LZ4) {
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
