package dev.faro.codec;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import java.io.Closeable;
import java.nio.ByteBuffer;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Factory;

/** Compresses payloads, keeping its context. One per owner; not for several threads at once. */
public final class Encoder implements Closeable {
    private final int codec;
    private final LZ4Compressor lz4;
    private final ZstdCompressCtx zstd;

    /**
     * An encoder.
     *
     * @param codec {@link Decoder#NONE}, {@link Decoder#LZ4} or {@link Decoder#ZSTD}
     * @param level level of Zstandard, 1 to 19, whose windows are 8 MiB at most (COD-5)
     */
    public Encoder(int codec, int level) {
        this.codec = codec;
        this.lz4 = codec == Decoder.LZ4 ? LZ4Factory.nativeInstance().fastCompressor() : null;
        this.zstd = codec == Decoder.ZSTD ? new ZstdCompressCtx() : null;
        if (zstd != null) {
            zstd.setLevel(level).setMagicless(true).setContentSize(false).setChecksum(false).setDictID(false);
        }
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
        return zstd.compressDirectByteBuffer(target, at, room, plain, 0, plainSize);
    }

    @Override
    public void close() {
        if (zstd != null) {
            zstd.close();
        }
    }
}
