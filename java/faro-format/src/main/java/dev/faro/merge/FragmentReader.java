package dev.faro.merge;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileRole;
import dev.faro.Limits;
import dev.faro.codec.Codec;
import dev.faro.codec.Decoder;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Reads a stream of any number of fragments (FRG-4, FRG-5). For one thread.
 * <pre>{@code
 * try (FragmentReader fragments = new FragmentReader(stream, Limits.DEFAULT)) {
 *     while (fragments.nextFragment()) {
 *         while (fragments.nextBlock()) {
 *             consume(fragments.header().producer(), fragments.partition(), fragments.number(), fragments.payload());
 *         }
 *     }
 * }
 * }</pre>
 */
public final class FragmentReader implements Closeable {
    /** The most bytes that are read at once, and the first time: many streams are short. */
    private static final int MOST = 256 << 10;
    private static final int FIRST = 4 << 10;

    private final InputStream from;
    private final Limits limits;
    private byte[] piece = new byte[FIRST];
    /** The bytes that were not looked at. Direct, as decoders want it. */
    private ByteBuffer left = ByteBuffer.allocateDirect(FIRST).limit(0);
    private Intake intake;
    private final Decoder decoder = new Decoder();

    /** Reads from a stream, in pieces of its own. Closing the reader closes the stream. */
    public FragmentReader(InputStream from, Limits limits) {
        this.from = Objects.requireNonNull(from, "from");
        this.limits = Objects.requireNonNull(limits, "limits");
    }

    /**
     * Passes over the rest of the fragment, and reads the header of the next one.
     *
     * @return false at the end of the stream
     * @throws FaroException a fault of FRG-4, in the role {@code fragment}, or {@code io}
     */
    public boolean nextFragment() throws FaroException {
        while (nextBlock()) {
            continue;
        }
        if (!left.hasRemaining() && !fill()) {
            return false;
        }
        intake = new Intake(limits, intake == null ? null : intake.giveBuffer());
        next(Intake.Part.HEADER);
        return true;
    }

    /**
     * Moves to the next block of the fragment.
     *
     * @return false after the end block was checked
     * @throws FaroException a fault of FRG-4, in the role {@code fragment}, or {@code io}
     */
    public boolean nextBlock() throws FaroException {
        return intake != null && !intake.ended() && next(Intake.Part.BLOCK);
    }

    /** Moves to the next part of this kind; false if the fragment ends before it. */
    private boolean next(Intake.Part wanted) throws FaroException {
        while (true) {
            Intake.Part part = intake.next(left);
            if (part == wanted) {
                return true;
            }
            if (part == Intake.Part.END) {
                return false;
            }
            if (part == null && !fill()) {
                intake.checkEnded();
                return false;
            }
        }
    }

    /** Reads the next piece, after all of the last was looked at. */
    private boolean fill() throws FaroException {
        try {
            int count = from.read(piece);
            left.clear().put(piece, 0, Math.max(0, count)).flip();
            if (count == piece.length && count < MOST) {
                // What was read last stays in its buffer until it was looked at.
                piece = new byte[Math.min(MOST, 8 * piece.length)];
                left = ByteBuffer.allocateDirect(piece.length).put(left).flip();
            }
            return count > 0;
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private static FaroException failed(IOException e) {
        return FaroException.ioInStorage(FileRole.FRAGMENT, "fragment", "a stream that can be read", e);
    }

    /** The header of the fragment. */
    public FileHeader header() {
        return intake.header();
    }

    /** The encapsulated Arrow schema message of the fragment, or null; little-endian. */
    public ByteBuffer schemaMessage() {
        byte[] schema = intake.schema();
        return schema == null ? null : ByteBuffer.wrap(schema).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Whether each partition that has a block in the fragment has no further block in the output, after its end. */
    public boolean isLast() {
        return intake.last();
    }

    /** Where the block begins in the fragment, in bytes. */
    public long offset() {
        return intake.blocks().offset();
    }

    /** The partition of the block. */
    public int partition() {
        return intake.blocks().partition();
    }

    /** The number of the block in its partition (FRG-1). */
    public long number() {
        return intake.blocks().sequence();
    }

    /** The kind of the block, see {@link dev.faro.BlockKind}. */
    public int kind() {
        return intake.blocks().kind();
    }

    /** How the block's payload is compressed. */
    public Codec codec() {
        return intake.blocks().codec();
    }

    /** The size of the plain payload in bytes. */
    public int plainSize() {
        return intake.blocks().plainSize();
    }

    /** The stored payload, as a view that is valid until the next call. */
    public ByteBuffer storedPayload() {
        return intake.blocks().storedPayload();
    }

    /**
     * The plain payload, after check 12 of BLK-7: a view that is valid until the next call.
     *
     * @throws FaroException {@code malformed-block} or {@code limit-exceeded}
     */
    public ByteBuffer payload() throws FaroException {
        return intake.blocks().plainPayload(decoder);
    }

    @Override
    public void close() throws FaroException {
        try {
            from.close();
        } catch (IOException e) {
            throw failed(e);
        }
    }
}
