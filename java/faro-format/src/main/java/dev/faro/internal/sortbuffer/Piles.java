package dev.faro.internal.sortbuffer;

import dev.faro.FaroException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The records of a few targets, each appended to the records of its target, so that nothing is left to sort. Only
 * records that are not events and count as one row are kept here. Each follows its length if the framing keeps lengths.
 */
final class Piles {
    /** The largest number of targets with memory for each: with 32, a trial was slower than sorting. */
    static final int MAX_TARGETS = 16;
    /**
     * The longest record that is taken, in bytes. Longer ones gained nothing. The free space at the end of a chunk is
     * at most this and the size of a length.
     */
    static final int LONGEST = 512;
    /** The size of the first chunk of a target in bytes. It is small because many outputs are small. */
    private static final int FIRST = 1 << 10;
    private static final int CHUNK = 64 << 10;
    /** Chunks double until they have their full size. */
    private static final int DOUBLINGS = 6;
    private static final int LENGTH = 4;

    private static final class Chunk {
        final Memory memory;
        int end;
        int records;

        Chunk(int capacity) {
            memory = new Memory(capacity);
        }
    }

    private static final class Pile {
        final List<Chunk> chunks = new ArrayList<>();
        int used;
    }

    private final Pile[] piles;
    /** The last chunk of each target that has records; null for the others. */
    private final Chunk[] open;
    private final boolean framed;
    private int next;

    /**
     * Makes piles, which allocate memory as records arrive.
     *
     * @param framed whether each record follows its length
     */
    Piles(int targets, boolean framed) {
        this.framed = framed;
        piles = new Pile[targets];
        open = new Chunk[targets];
        for (int i = 0; i < targets; i++) {
            piles[i] = new Pile();
        }
    }

    /** Whether a record of a target fits into the open chunk. */
    boolean fits(int target, int length) {
        Chunk chunk = open[target];
        return chunk != null && (framed ? LENGTH : 0) + length <= chunk.memory.capacity() - chunk.end;
    }

    /** The memory in bytes that {@link #begin} would allocate. */
    int needed(int target) {
        Pile pile = piles[target];
        return pile.used < pile.chunks.size() ? 0 : size(pile.used);
    }

    private static int size(int number) {
        return number < DOUBLINGS ? FIRST << number : CHUNK;
    }

    /** Opens a chunk of a target, which has room for any record that is taken. */
    void begin(int target) {
        Pile pile = piles[target];
        if (pile.used == pile.chunks.size()) {
            pile.chunks.add(new Chunk(size(pile.used)));
        }
        Chunk chunk = pile.chunks.get(pile.used++);
        chunk.end = 0;
        chunk.records = 0;
        open[target] = chunk;
    }

    /** Adds a record that fits. */
    void add(int target, ByteBuffer record) {
        Chunk chunk = open[target];
        int length = record.remaining();
        int at = chunk.end;
        if (framed) {
            chunk.memory.putInt(at, length);
            at += LENGTH;
        }
        chunk.end = chunk.memory.put(at, record);
        chunk.records++;
    }

    /** Moves to the first target that is equal to or above a number. */
    void seek(int target) {
        next = target;
    }

    /** The next target that has records, or {@link Integer#MAX_VALUE} after the last. */
    int target() {
        while (next < piles.length && open[next] == null) {
            next++;
        }
        return next < piles.length ? next : Integer.MAX_VALUE;
    }

    /** Skips the records of a target; returns whether they have any bytes. */
    boolean skip(int target) {
        if (target() != target) {
            return false;
        }
        next++;
        // A second chunk exists only because a record did not fit into the first.
        return piles[target].used > 1 || open[target].end > 0;
    }

    /** Passes the records of a target to the sink. */
    void drain(int target, ExtentSink sink) throws FaroException {
        if (target() != target) {
            return;
        }
        next++;
        Pile pile = piles[target];
        for (Chunk chunk : pile.chunks.subList(0, pile.used)) {
            if (framed) {
                sink.records(chunk.memory.view, 0, chunk.end, chunk.records);
            } else {
                sink.bytes(chunk.memory.view, 0, chunk.end, chunk.records);
            }
        }
    }

    /** Removes the records, and keeps the memory. */
    void clear() {
        for (int i = 0; i < piles.length; i++) {
            piles[i].used = 0;
            open[i] = null;
        }
    }

    /** The size of all chunks in bytes. */
    long capacity() {
        long bytes = 0;
        for (Pile pile : piles) {
            for (Chunk chunk : pile.chunks) {
                bytes += chunk.memory.capacity();
            }
        }
        return bytes;
    }

    /** Releases the memory that holds no record. */
    void trim() {
        for (Pile pile : piles) {
            pile.chunks.subList(pile.used, pile.chunks.size()).clear();
        }
    }
}
