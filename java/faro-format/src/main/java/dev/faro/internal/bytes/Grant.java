package dev.faro.internal.bytes;

import dev.faro.MemoryBudget;

/**
 * The memory that one user was granted by an engine's budget, which may be null: then everything is granted. For one
 * thread at a time, without locks: a budget may call the library.
 */
public final class Grant {
    private final MemoryBudget budget;
    private long bytes;

    /** Makes an account with nothing on it. */
    public Grant(MemoryBudget budget) {
        this.budget = budget;
    }

    /** Asks a budget, if there is one. */
    public static boolean tryGrow(MemoryBudget budget, long bytes) {
        return budget == null || bytes == 0 || budget.tryGrow(bytes);
    }

    /** Gives memory back to a budget, if there is one. */
    public static void shrink(MemoryBudget budget, long bytes) {
        if (budget != null && bytes > 0) {
            budget.shrink(bytes);
        }
    }

    /** Whether there is a budget, which may refuse. */
    public boolean asks() {
        return budget != null;
    }

    /** The memory in bytes that was granted and not given back. */
    public long bytes() {
        return bytes;
    }

    /** Asks for memory that is about to be taken. */
    public boolean tryGrow(long more) {
        if (!tryGrow(budget, more)) {
            return false;
        }
        bytes += more;
        return true;
    }

    /** Gives back all but some bytes. */
    public void settle(long left) {
        long less = bytes - left;
        if (less > 0) {
            // First, so that a budget that fails is not asked twice.
            bytes = left;
            shrink(budget, less);
        }
    }
}
