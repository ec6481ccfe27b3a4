package dev.faro.internal.message;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.internal.storage.InputFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Reads a message by position, never as a whole, for direct lookup (LKP). It reads pieces of 256 bytes and keeps a few
 * of them, so its memory does not depend on the size of the message. Positions count from the first byte of the
 * message. They are of type long, because a message may have up to 2^32 - 1 bytes. Not for several threads.
 */
public final class MessagePieces {
    private static final int PIECE_BITS = 8;
    private static final int PIECE = 1 << PIECE_BITS;
    private static final int KEPT = 8;
    private static final long NONE = -1;

    private final InputFile file;
    private final ByteBuffer[] pieces = new ByteBuffer[KEPT];
    /** The number of each kept piece in the message. */
    private final long[] numbers = new long[KEPT];
    private final long[] used = new long[KEPT];
    private long clock;
    private long offset;
    private long size;

    /** Makes a reader for messages of a file. */
    public MessagePieces(InputFile file) {
        this.file = file;
        Arrays.fill(numbers, NONE);
    }

    /**
     * Moves to a message.
     *
     * @param messageOffset the offset of the message's first byte in the file
     * @param messageSize the size of the message in bytes; all of them are in the file
     */
    public void open(long messageOffset, long messageSize) {
        open(messageOffset, messageSize, null);
    }

    /**
     * The same with the first piece.
     *
     * @param first a buffer of {@link #firstPiece} with the bytes from 0 to its limit; null if they were not read
     */
    public void open(long messageOffset, long messageSize, ByteBuffer first) {
        offset = messageOffset;
        size = messageSize;
        Arrays.fill(numbers, NONE);
        if (first != null) {
            pieces[0] = first.order(ByteOrder.LITTLE_ENDIAN);
            numbers[0] = 0;
            used[0] = ++clock;
        }
    }

    /** Makes a buffer for the first piece of a message. */
    public static ByteBuffer firstPiece(long messageSize) {
        // It replaces a piece, and later a larger one may replace it.
        return ByteBuffer.allocate(PIECE).limit((int) Math.min(PIECE, messageSize));
    }

    /** The size of the message in bytes. */
    long size() {
        return size;
    }

    /**
     * Checks one of the rules of LKP-2.
     *
     * @throws FaroException {@code inconsistent-index} at the first byte of the message, if the rule does not hold
     */
    public void require(boolean holds, String fault) throws FaroException {
        if (!holds) {
            throw file.fault(ErrorCode.INCONSISTENT_INDEX, offset, "a region message that obeys LKP-2",
                    fault);
        }
    }

    /** A byte of the message. The caller has checked that the position is inside, here and below. */
    int u8(long at) throws FaroException {
        return piece(at).get(within(at)) & 0xFF;
    }

    /** 16 bits at a multiple of 2. */
    int u16(long at) throws FaroException {
        return piece(at).getShort(within(at)) & 0xFFFF;
    }

    /** 32 bits, signed, at a multiple of 4. */
    int i32(long at) throws FaroException {
        return piece(at).getInt(within(at));
    }

    /** 32 bits at a multiple of 4. */
    long u32(long at) throws FaroException {
        return i32(at) & 0xFFFFFFFFL;
    }

    /** 64 bits at a multiple of 8. */
    long u64(long at) throws FaroException {
        return piece(at).getLong(within(at));
    }

    /**
     * The target of the offset at a position (MSG-1). At least four bytes of the message begin there (MSG-3, MSG-8).
     */
    long follow(long at) throws FaroException {
        require(at % 4 == 0, "MSG-1: an unaligned offset");
        long distance = u32(at);
        long target = at + distance;
        require(distance >= 4, "MSG-1: an offset below 4");
        require(target % 4 == 0, "MSG-1: an offset to an unaligned position");
        require(target + 4 <= size, "MSG-1: an offset that leads out of the message");
        return target;
    }

    private static int within(long at) {
        return (int) at & PIECE - 1;
    }

    /** The piece with a position. If it is not kept, it replaces the piece that was used least recently. */
    private ByteBuffer piece(long at) throws FaroException {
        long number = at >>> PIECE_BITS;
        int eldest = 0;
        for (int i = 0; i < KEPT; i++) {
            if (numbers[i] == number) {
                used[i] = ++clock;
                return pieces[i];
            }
            if (used[i] < used[eldest]) {
                eldest = i;
            }
        }
        if (pieces[eldest] == null) {
            pieces[eldest] = ByteBuffer.allocate(PIECE).order(ByteOrder.LITTLE_ENDIAN);
        }
        // The slot stays empty if reading fails.
        numbers[eldest] = NONE;
        long from = number << PIECE_BITS;
        file.readFully(pieces[eldest].clear().limit((int) Math.min(PIECE, size - from)), offset + from);
        numbers[eldest] = number;
        used[eldest] = ++clock;
        return pieces[eldest];
    }
}
