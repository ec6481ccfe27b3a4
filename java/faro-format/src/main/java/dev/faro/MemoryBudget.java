package dev.faro;

/**
 * An engine's account of memory. A writer or reader asks it before it takes memory, and says when it has given memory
 * back. One budget may serve many of them. Safe to share between threads.
 *
 * <p>The calls come from the thread that uses the writer or reader. It may hold locks of the library: to end a region
 * of a writer ({@link dev.faro.writer.Writer#flush}) because memory is short, use another thread, or wait for the call
 * that asked to return.
 *
 * <pre>{@code
 * WriterOptions options = new WriterOptions(64).memoryBudget(budget);
 * }</pre>
 */
public interface MemoryBudget {
    /**
     * Asks for memory that is about to be taken.
     *
     * @param bytes at least as much as will be taken
     * @return whether it is granted. A writer that is refused ends its region and gives its sort memory back
     */
    boolean tryGrow(long bytes);

    /** Says that granted memory was given back. All of it is, at the latest when its user has ended. */
    void shrink(long bytes);
}
