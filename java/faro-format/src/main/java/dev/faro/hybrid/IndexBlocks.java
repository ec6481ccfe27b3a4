package dev.faro.hybrid;

import dev.faro.BlockKind;
import dev.faro.FileHeader;
import dev.faro.internal.block.BlockHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Cuts what a writer appends to an index file into its header, its blocks, and the tail. */
final class IndexBlocks {
    /** What a piece is. */
    enum Piece {
        HEADER,
        REGION,
        OTHER,
        FOOTER,
        TAIL
    }

    private byte[] bytes = new byte[0];
    private int at;
    private Piece last;

    void add(byte[] more) {
        byte[] joined = Arrays.copyOf(Arrays.copyOfRange(bytes, at, bytes.length), bytes.length - at + more.length);
        System.arraycopy(more, 0, joined, bytes.length - at, more.length);
        bytes = joined;
        at = 0;
    }

    /** The next piece, or null if it is not complete; {@link #last} says what it is. */
    byte[] next() {
        int left = bytes.length - at;
        if (left == 0) {
            return null;
        }
        if (last == null) {
            return cut(FileHeader.SIZE, Piece.HEADER);
        }
        if (last == Piece.FOOTER || last == Piece.TAIL) {
            return cut(left, Piece.TAIL);
        }
        if (left < BlockHeader.SIZE) {
            return null;
        }
        ByteBuffer header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int kind = Byte.toUnsignedInt(header.get(at + BlockHeader.KIND));
        return cut(BlockHeader.sizeInFile(Integer.toUnsignedLong(header.getInt(at))),
                kind == BlockKind.REGION ? Piece.REGION : kind == BlockKind.FOOTER ? Piece.FOOTER : Piece.OTHER);
    }

    private byte[] cut(long size, Piece piece) {
        if (bytes.length - at < size) {
            return null;
        }
        byte[] taken = Arrays.copyOfRange(bytes, at, at + (int) size);
        at += (int) size;
        last = piece;
        return taken;
    }

    /** What {@link #next} returned last. */
    Piece last() {
        return last;
    }
}
