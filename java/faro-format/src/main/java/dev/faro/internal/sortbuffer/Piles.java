package dev.faro.internal.sortbuffer;

import dev.faro.FaroException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Records of few targets, each copied behind the others of its target, so that nothing is left to sort: only records
 * that are no events and count as one row. They stand behind their lengths where framing keeps them, else without.
 */
final class Piles {
    /** Targets up to which each has memory of its own: with 32 a trial was slower than sorting. */
    static final int MOST = 16;
    /**
     * The longest record, in bytes, that is taken: longer ones gained nothing. At most as much, and a length, stays free
     * at the end of a chunk.
     */
    static final int LONGEST = 512;
    /** Bytes of the first chunk of a target at first: many outputs are small. */
    private static final int FIRST = 8 << 10;
    private static final int CHUNK = 64 << 10;
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
    /** The last chunk of each target that has records, else null. */
    private final Chunk[] open;
    private final boolean framed;
    private int next;

    /**
     * Takes memory as records come.
     *
     * @param framed whether records stand behind their lengths
     */
    Piles(int targets, boolean framed) {
        this.framed = framed;
        piles = new Pile[targets];
        open = new Chunk[targets];
        for (int i = 0; i < targets; i++) {
            piles[i] = new Pile();
        }
    }

    /** Whether a record of a target can be added to the chunk that is open. */
    boolean fits(int target, int length) {
        Chunk chunk = open[target];
        return chunk != null && (framed ? LENGTH : 0) + length <= chunk.memory.capacity() - chunk.end;
    }

    /** Opens a chunk of a target, in which any record fits that is not too long. */
    void begin(int target) {
        Pile pile = piles[target];
        if (pile.used == pile.chunks.size()) {
            pile.chunks.add(new Chunk(pile.used > 3 ? CHUNK : FIRST << pile.used));
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
        record.get(record.position(), chunk.memory.bytes, at, length);
        chunk.end = at + length;
        chunk.records++;
    }

    /** Goes to the first target that is not below a number. */
    void seek(int target) {
        next = target;
    }

    /** The next target that has records, or the largest int behind the last. */
    int target() {
        while (next < piles.length && open[next] == null) {
            next++;
        }
        return next < piles.length ? next : Integer.MAX_VALUE;
    }

    /** Passes over the records of a target; says whether they leave any bytes. */
    boolean skip(int target) {
        if (target() != target) {
            return false;
        }
        next++;
        // Who has a second chunk had a record that did not fit into the first.
        return piles[target].used > 1 || open[target].end > 0;
    }

    /** Hands the records of a target over. */
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

    /** Forgets the records, and keeps the memory. */
    void clear() {
        for (int i = 0; i < piles.length; i++) {
            piles[i].used = 0;
            open[i] = null;
        }
    }

    /** Bytes of all chunks. */
    long capacity() {
        long bytes = 0;
        for (Pile pile : piles) {
            for (Chunk chunk : pile.chunks) {
                bytes += chunk.memory.capacity();
            }
        }
        return bytes;
    }

    /** Gives memory back that holds no record. */
    void trim() {
        for (Pile pile : piles) {
            pile.chunks.subList(pile.used, pile.chunks.size()).clear();
        }
    }
}
