package dev.faro.internal.message;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.internal.storage.InputFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A message that is read by position and never whole, for direct lookup (LKP): its numbers are had from pieces of 256
 * bytes, of which a handful is kept. Memory does not depend on the message. Positions count from the message's first
 * byte and are long, since a message may have up to 2^32 - 1 bytes. Not for several threads.
 */
public final class MessagePieces {
    private static final int PIECE_BITS = 8;
    private static final int PIECE = 1 << PIECE_BITS;
    private static final int KEPT = 8;
    private static final long NONE = -1;

    private final InputFile file;
    private final ByteBuffer[] pieces = new ByteBuffer[KEPT];
    /** Which piece of the message each one is, and when it was used last. */
    private final long[] numbers = new long[KEPT];
    private final long[] used = new long[KEPT];
    private long clock;
    private long offset;
    private long size;

    /** For messages of a file. */
    public MessagePieces(InputFile file) {
        this.file = file;
        Arrays.fill(numbers, NONE);
    }

    /**
     * Goes to a message.
     *
     * @param itsOffset of its first byte in the file
     * @param itsSize its bytes, all of which are in the file
     */
    public void open(long itsOffset, long itsSize) {
        offset = itsOffset;
        size = itsSize;
        Arrays.fill(numbers, NONE);
    }

    /** Bytes of the message. */
    long size() {
        return size;
    }

    /**
     * Checks one of the rules of LKP-2.
     *
     * @throws FaroException {@code inconsistent-index} at the message's first byte, if it does not hold
     */
    public void require(boolean holds, String fault) throws FaroException {
        if (!holds) {
            throw file.fault(ErrorCode.INCONSISTENT_INDEX, offset, "a region message that can be looked up in (LKP-2)",
                    fault);
        }
    }

    /** A byte of the message; like the others only where it is known to be inside. */
    int u8(long at) throws FaroException {
        return piece(at).get(within(at)) & 0xFF;
    }

    /** 16 bits at a multiple of 2. */
    int u16(long at) throws FaroException {
        return piece(at).getShort(within(at)) & 0xFFFF;
    }

    /** 32 bits with a sign, at a multiple of 4. */
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

    /** MSG-1: where the uoffset at a position leads, which has room for at least four bytes there (MSG-3, MSG-8). */
    long follow(long at) throws FaroException {
        require(at % 4 == 0, "MSG-1: an offset that is not aligned");
        long distance = u32(at);
        long target = at + distance;
        require(distance >= 4, "MSG-1: an offset below 4");
        require(target % 4 == 0, "MSG-1: an offset that leads to what is not aligned");
        require(target + 4 <= size, "MSG-1: an offset out of the message");
        return target;
    }

    private static int within(long at) {
        return (int) at & PIECE - 1;
    }

    /** The piece with a position: one that is kept, or read in place of the one that was not used for longest. */
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
        // Not a piece any more, should reading it fail.
        numbers[eldest] = NONE;
        long from = number << PIECE_BITS;
        file.readFully(pieces[eldest].clear().limit((int) Math.min(PIECE, size - from)), offset + from);
        numbers[eldest] = number;
        used[eldest] = ++clock;
        return pieces[eldest];
    }
}
