package dev.faro.internal.sortbuffer;

import dev.faro.FaroException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Parts in an engine's buffers, of any size. Records are collected and sorted on the heap, where that is fastest, in a
 * stage that takes less than the memory for sorting. When the stage is full, it is copied to the engine's buffers, in
 * the order of targets. A region that fits into the stage needs no buffer.
 */
final class EngineParts implements Parts {
    /** The size of the stage in bytes: it stays in a processor's cache while it is sorted. */
    private static final int STAGE = 256 << 10;
    /** Its first size. It is small because many outputs are small. */
    private static final int FIRST_STAGE = 64 << 10;
    /** Records without an end are cut into pieces of this size in bytes, so that small buffers have room for each. */
    private static final int CUT = 8 << 10;
    /** A buffer is of no use if it has fewer bytes than this, which a record needs. */
    private static final int LEAST = (int) Segment.capacityFor(1);

    /** How many bytes of a buffer are wanted, at most. */
    private final int wanted;
    private final int stageSize;
    private final boolean opaque;
    private final SortMemory memory;
    private final Scratch scratch;
    /** Buffers for stages, in the order in which they are filled, and where the next stage goes. */
    private final List<Memory> buffers = new ArrayList<>();
    private int buffer;
    private int offset;
    /** Buffers of records that are larger than the stage. */
    private final List<Memory> large = new ArrayList<>();
    private final List<SortedPart> stored = new ArrayList<>();
    private Segment stage;

    /**
     * Makes no part yet.
     *
     * @param size the size of a part on the heap, in bytes
     * @param opaque whether the ends of records need not be known
     */
    EngineParts(int size, boolean opaque, SortMemory memory) {
        this.wanted = size;
        this.stageSize = Math.min(STAGE, size);
        this.opaque = opaque;
        this.memory = memory;
        this.scratch = new Scratch(stageSize);
    }

    @Override
    public boolean isEmpty() {
        return stage == null && buffers.isEmpty();
    }

    @Override
    public long capacity() {
        long bytes = stage == null ? 0 : stage.capacity();
        for (Memory one : buffers) {
            bytes += one.capacity();
        }
        for (Memory one : large) {
            bytes += one.capacity();
        }
        return bytes;
    }

    @Override
    public boolean add(int target, ByteBuffer record, int kind, long rows, int targets) throws FaroException {
        int length = record.remaining();
        int pieces = opaque && kind == 0 ? Math.max(1, (length + CUT - 1) / CUT) : 1;
        long needed = Segment.needed(length, pieces);
        if (stage == null) {
            stage = new Segment(Math.min(FIRST_STAGE, stageSize), opaque);
        }
        if (!stage.hasRoom(needed)) {
            if (!stage.isSorted() && stage.capacity() < stageSize) {
                stage.grow(stageSize);
            }
            if (!stage.hasRoom(needed)) {
                if (!store(targets)) {
                    return false;
                }
                if (!stage.hasRoom(needed)) {
                    return addLarge(target, record, kind, rows, targets);
                }
            }
        }
        if (pieces == 1) {
            stage.add(target, record, kind, rows);
        } else {
            cut(target, record, rows);
        }
        return true;
    }

    /** Adds a record in pieces. It counts where it begins. */
    private void cut(int target, ByteBuffer record, long rows) {
        for (int at = record.position(); at < record.limit(); at += CUT) {
            int end = Math.min(record.limit(), at + CUT);
            stage.add(target, record.duplicate().limit(end).position(at), 0, at == record.position() ? rows : 0);
        }
    }

    /** Moves the records of the stage to buffers; false if there is no memory, and then they stay. */
    private boolean store(int targets) throws FaroException {
        if (stage.isEmpty()) {
            return true;
        }
        stage.sort(targets, scratch);
        int buffersBefore = buffer;
        int offsetBefore = offset;
        List<Segment> pieces = new ArrayList<>();
        boolean isStored = false;
        try {
            isStored = copyStage(pieces);
        } finally {
            if (!isStored) {
                buffer = buffersBefore;
                offset = offsetBefore;
            }
        }
        if (isStored) {
            stored.add(new StoredPart(pieces));
            stage.clear();
        }
        return isStored;
    }

    /** Copies the sorted stage to buffers, from the offset on; false if there is no memory for all of it. */
    private boolean copyStage(List<Segment> pieces) throws FaroException {
        SegmentCopier copier = new SegmentCopier(stage);
        while (!copier.isDone()) {
            Segment piece = buffer < buffers.size() ? copier.copy(buffers.get(buffer).from(offset)) : null;
            if (piece != null) {
                pieces.add(piece);
                offset = Math.min(offset + (piece.sortedBytes() + 7 & -8), buffers.get(buffer).capacity());
            } else if (!nextBuffer()) {
                return false;
            }
        }
        return true;
    }

    /** Moves to the next buffer; false if there is none, or if this one is empty and still not large enough. */
    private boolean nextBuffer() throws FaroException {
        if (buffer < buffers.size()) {
            if (offset == 0) {
                return false;
            }
            buffer++;
            offset = 0;
        }
        if (buffer == buffers.size()) {
            Memory taken = memory.take(wanted, LEAST);
            if (taken == null) {
                return false;
            }
            buffers.add(taken);
        }
        return true;
    }

    /** Adds a record that is larger than the stage, which is empty. Only one without an end may be in several buffers. */
    private boolean addLarge(int target, ByteBuffer record, int kind, long rows, int targets) throws FaroException {
        boolean whole = !opaque || kind != 0;
        List<Memory> taken = new ArrayList<>();
        List<Segment> pieces = new ArrayList<>();
        int at = record.position();
        try {
            do {
                int left = record.limit() - at;
                int needed = (int) Math.min(Integer.MAX_VALUE - 63, Segment.capacityFor(left));
                Memory next = memory.take(needed, whole ? needed : LEAST);
                if (next == null) {
                    return false;
                }
                taken.add(next);
                Segment piece = new Segment(next, opaque);
                int size = Math.min(left, Segment.room(next.capacity()));
                // The record counts where it begins.
                piece.add(target, record.duplicate().limit(at + size).position(at), kind, pieces.isEmpty() ? rows : 0);
                piece.sort(targets, scratch);
                pieces.add(piece);
                at += size;
            } while (at < record.limit());
            large.addAll(taken);
            taken.clear();
        } finally {
            // The engine may refuse, or throw.
            memory.giveBack(taken);
        }
        stored.addAll(pieces);
        return true;
    }

    @Override
    public List<SortedPart> sorted(int targets) {
        List<SortedPart> parts = new ArrayList<>(stored);
        if (stage != null && !stage.isEmpty()) {
            stage.sort(targets, scratch);
            parts.add(stage);
        }
        return parts;
    }

    @Override
    public void clear() {
        stored.clear();
        if (stage != null) {
            stage.clear();
        }
        buffer = 0;
        offset = 0;
        memory.giveBack(large);
    }

    @Override
    public void dropUnused() {
        boolean used = !stored.isEmpty() || stage != null && !stage.isEmpty();
        if (!used) {
            stage = null;
            scratch.release();
        }
        memory.giveBack(buffers.subList(offset > 0 ? buffer + 1 : buffer, buffers.size()));
    }
}
