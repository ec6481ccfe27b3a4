package dev.faro.internal.sortbuffer;

import dev.faro.Buffers;
import dev.faro.FaroException;
import dev.faro.MemoryBudget;
import java.nio.ByteBuffer;
import java.util.List;

/** Where a sort buffer has its memory from: the heap, as far as a budget grants it, or an engine's buffers. */
public final class SortMemory {
    /** The engine's own buffers; null for the heap. */
    private final Buffers buffers;
    private final MemoryBudget budget;
    private long granted;
    private long refusals;

    /**
     * Makes an account with nothing on it.
     *
     * @param buffers supplies the memory, which is not asked from the budget; null for the heap
     * @param budget null if everything is granted
     */
    public SortMemory(Buffers buffers, MemoryBudget budget) {
        this.buffers = buffers;
        this.budget = budget;
    }

    /** Whether an engine supplies the memory. */
    boolean isOfEngine() {
        return buffers != null;
    }

    /** The memory in bytes that was granted and not given back. */
    public long granted() {
        return granted;
    }

    /** How often memory was refused. */
    public long refusals() {
        return refusals;
    }

    /** Asks for memory. */
    public boolean tryGrow(long bytes) {
        if (budget != null && !budget.tryGrow(bytes)) {
            refusals++;
            return false;
        }
        granted += bytes;
        return true;
    }

    /** Gives back all but some bytes. */
    public void settle(long left) {
        long bytes = granted - left;
        if (bytes > 0) {
            granted = left;
            if (budget != null) {
                budget.shrink(bytes);
            }
        }
    }

    /**
     * Takes memory from the engine.
     *
     * @param least the capacity that is of use, in bytes
     * @return null if there is none now, or too little
     * @throws FaroException {@code invalid-argument} if the buffer cannot be written
     */
    Memory take(int wanted, int least) throws FaroException {
        ByteBuffer buffer = buffers.take(wanted);
        if (buffer == null) {
            refusals++;
            return null;
        }
        if (buffer.isReadOnly() || buffer.capacity() == 0) {
            String found = buffer.isReadOnly() ? "a read-only buffer" : "a buffer of 0 bytes";
            buffers.giveBack(buffer);
            throw FaroException.invalidArgument("a buffer for records that can be written, of 1 byte or more", found);
        }
        int usable = Math.min(buffer.capacity(), wanted) & -8;
        if (usable < least) {
            refusals++;
            buffers.giveBack(buffer);
            return null;
        }
        return new Memory(buffer, usable);
    }

    /**
     * Gives memory of the engine back, and empties the list. The engine gets all of it, even if it throws; the first
     * failure is thrown after that, with the others suppressed.
     */
    void giveBack(List<Memory> unused) {
        List<Memory> dropped = List.copyOf(unused);
        unused.clear();
        Throwable first = null;
        for (Memory one : dropped) {
            try {
                buffers.giveBack(one.owned());
            } catch (RuntimeException | Error e) {
                if (first == null) {
                    first = e;
                } else if (first != e) {
                    // An engine may throw the same object twice, which cannot be suppressed in itself.
                    first.addSuppressed(e);
                }
            }
        }
        if (first instanceof Error error) {
            throw error;
        }
        if (first != null) {
            throw (RuntimeException) first;
        }
    }
}
