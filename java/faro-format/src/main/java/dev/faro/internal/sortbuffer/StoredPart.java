package dev.faro.internal.sortbuffer;

import dev.faro.FaroException;
import java.util.List;

/** A sorted part that was copied to several pieces of memory, in the order of their targets. */
final class StoredPart implements SortedPart {
    private final List<Segment> pieces;
    /** The first piece that may have records left. */
    private int at;

    StoredPart(List<Segment> pieces) {
        this.pieces = pieces;
    }

    @Override
    public void seek(int target) {
        pieces.forEach(piece -> piece.seek(target));
        at = 0;
    }

    @Override
    public int target() {
        while (at < pieces.size() && pieces.get(at).target() == Integer.MAX_VALUE) {
            at++;
        }
        return at < pieces.size() ? pieces.get(at).target() : Integer.MAX_VALUE;
    }

    @Override
    public boolean skip(int target) {
        boolean any = false;
        while (target() == target) {
            any |= pieces.get(at).skip(target);
        }
        return any;
    }

    @Override
    public void drain(int target, ExtentSink sink) throws FaroException {
        while (target() == target) {
            pieces.get(at).drain(target, sink);
        }
    }
}
