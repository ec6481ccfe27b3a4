package dev.faro.codec;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;

/**
 * Decompresses payloads (COD). It keeps its context and the memory of its result, and is not safe for use by several
 * threads at once.
 */
public final class Decoder {
    private static final Cleaner CLEANER = Cleaner.create();
    /** The largest exponent of a window that libzstd accepts. */
    private static final int MAX_WINDOW_LOG = 31;

    private ZstdDecompressCtx zstd;
    private int windowLog;
    /** The dictionary that the context refers to, or null. */
    private DictionaryDigest dictionary;
    private ByteBuffer result = ByteBuffer.allocateDirect(0);

    /** Makes a decoder, which allocates memory at its first use. */
    public Decoder() {}

    /**
     * Decompresses a payload. All of it must be used, and the result must have exactly {@code plainSize} bytes (COD-1).
     *
     * @param codec {@link Codec#LZ4} or {@link Codec#ZSTD}; with {@link Codec#NONE} nothing is to be decompressed
     * @param stored a direct little-endian buffer, read from 0 to its limit
     * @param plainSize the size of the result in bytes
     * @param maxWindow the maximum window of a Zstandard frame in bytes
     * @param digest the dictionary that the Zstandard frame was compressed with, or null
     * @return a little-endian buffer in this decoder's memory, which is valid until the next call
     * @throws DecodeException if the payload is not valid, or needs a window that is larger than {@code maxWindow}
     */
    public ByteBuffer decode(Codec codec, ByteBuffer stored, int plainSize, long maxWindow, DictionaryDigest digest)
            throws DecodeException {
        if (codec == Codec.ZSTD) {
            ZstdFrame.check(stored, plainSize, maxWindow);
        }
        if (result.capacity() < plainSize) {
            result = ByteBuffer.allocateDirect(plainSize).order(ByteOrder.LITTLE_ENDIAN);
        }
        ByteBuffer target = result.slice(0, plainSize).order(ByteOrder.LITTLE_ENDIAN);
        if (codec == Codec.LZ4) {
            decodeLz4(stored, target);
        } else {
            decodeZstd(stored.duplicate(), target, maxWindow, digest);
        }
        return target.clear();
    }

    private static void decodeLz4(ByteBuffer stored, ByteBuffer target) throws DecodeException {
        int size = target.capacity();
        int decoded;
        try {
            decoded = Lz4.DECOMPRESSOR.decompress(stored, 0, stored.limit(), target, 0, size);
        } catch (LZ4Exception e) {
            throw new DecodeException(false, e.getMessage());
        }
        if (decoded != size) {
            throw new DecodeException(false, decoded + " bytes");
        }
    }

    private void decodeZstd(ByteBuffer stored, ByteBuffer target, long maxWindow, DictionaryDigest digest)
            throws DecodeException {
        int wantedLog = Math.min(MAX_WINDOW_LOG, 64 - Long.numberOfLeadingZeros(Math.max(maxWindow, 1024) - 1));
        // A context that has had a dictionary cannot go back to none, so a new one is made.
        if (zstd == null || wantedLog != windowLog || digest == null && dictionary != null) {
            configure(wantedLog);
        }
        if (digest != dictionary) {
            zstd.loadDict(digest.digest());
            dictionary = digest;
        }
        boolean done = false;
        try {
            int left;
            do {
                left = stored.remaining() + target.remaining();
                // The one-shot decoder accepts blocks that are larger than the window allows, so this one streams.
                done = zstd.decompressDirectByteBufferStream(target, stored);
            } while (!done && stored.remaining() + target.remaining() < left);
        } catch (ZstdException e) {
            throw new DecodeException(false, e.getMessage());
        } finally {
            if (!done) {
                configure(wantedLog);
            }
        }
        if (!done || stored.hasRemaining() || target.hasRemaining()) {
            throw new DecodeException(false, target.position() + " bytes, " + stored.remaining() + " left over");
        }
    }

    /** Prepares the context for a new frame; a reset clears its parameters and its dictionary. */
    private void configure(int wantedLog) {
        if (zstd == null) {
            ZstdDecompressCtx context = new ZstdDecompressCtx();
            CLEANER.register(this, context::close);
            zstd = context;
        } else {
            zstd.reset();
        }
        zstd.setMagicless(true).setLongMax(wantedLog);
        windowLog = wantedLog;
        dictionary = null;
    }

    /** Loaded at its first use. The C library is used because ports judge the end of a block differently (COD-2). */
    private static final class Lz4 {
        static final LZ4SafeDecompressor DECOMPRESSOR = LZ4Factory.nativeInstance().safeDecompressor();
    }
}
