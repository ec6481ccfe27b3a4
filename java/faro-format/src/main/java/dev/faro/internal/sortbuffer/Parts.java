package dev.faro.internal.sortbuffer;

import dev.faro.FaroException;
import java.nio.ByteBuffer;
import java.util.List;

/** The parts of a sort buffer, in the order in which they are filled. Their memory stays until it is dropped. */
sealed interface Parts permits HeapParts, EngineParts {
    /** Whether there is no memory of parts. */
    boolean isEmpty();

    /** The size of all parts in bytes. */
    long capacity();

    /**
     * Adds a record.
     *
     * @param targets the number of targets
     * @return false if there is no memory for it
     */
    boolean add(int target, ByteBuffer record, int kind, long rows, int targets) throws FaroException;

    /** The parts with records, sorted. */
    List<? extends SortedPart> sorted(int targets);

    /** Removes the records, and keeps memory for the next region. */
    void clear();

    /** Drops the memory without records, and that for sorting if there are no records. */
    void dropUnused();
}
