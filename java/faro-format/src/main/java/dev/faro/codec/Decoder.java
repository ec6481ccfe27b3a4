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
 * Decompresses payloads (COD), keeping its context and the memory of its result. One per owner; not for several threads
 * at once.
 */
public final class Decoder {
    /** The payload as it is. */
    public static final int NONE = 0;
    /** One LZ4 block. */
    public static final int LZ4 = 1;
    /** One Zstandard frame without its magic number. */
    public static final int ZSTD = 2;

    private static final Cleaner CLEANER = Cleaner.create();
    /** Largest exponent of a window that libzstd takes. */
    private static final int MOST_WINDOW_LOG = 31;

    private ZstdDecompressCtx zstd;
    private int windowLog;
    /** What the context refers to, or null. */
    private DictionaryDigest dictionary;
    private ByteBuffer result = ByteBuffer.allocateDirect(0);

    /** A decoder, which takes its memory when it is first used. */
    public Decoder() {}

    /**
     * Decompresses a payload, which must be used up and give exactly {@code plainSize} bytes (COD-1).
     *
     * @param stored a direct little-endian buffer from 0 to its limit
     * @param maxWindow the largest window of a Zstandard frame in bytes
     * @param digest what a Zstandard frame was compressed with, or null
     * @return memory of this decoder, which its next use changes; little-endian
     */
    public ByteBuffer decode(int codec, ByteBuffer stored, int plainSize, long maxWindow, DictionaryDigest digest)
            throws DecodeException {
        if (codec == ZSTD) {
            ZstdFrame.check(stored, plainSize, maxWindow);
        }
        if (result.capacity() < plainSize) {
            result = ByteBuffer.allocateDirect(plainSize).order(ByteOrder.LITTLE_ENDIAN);
        }
        ByteBuffer target = result.slice(0, plainSize).order(ByteOrder.LITTLE_ENDIAN);
        if (codec == LZ4) {
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
        int wantedLog = Math.min(MOST_WINDOW_LOG, 64 - Long.numberOfLeadingZeros(Math.max(maxWindow, 1024) - 1));
        // Without a dictionary only a context is that was made anew.
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
                // Streaming, since the one-shot decoder takes blocks that regenerate more than a window allows.
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

    /** Makes the context ready for a new frame; a reset forgets its parameters and its dictionary. */
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

    /** Loaded when first needed. The C library, since ports judge the end of a block differently (COD-2). */
    private static final class Lz4 {
        static final LZ4SafeDecompressor DECOMPRESSOR = LZ4Factory.nativeInstance().safeDecompressor();
    }
}
