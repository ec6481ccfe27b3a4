package dev.faro;

/**
 * An engine's account of memory. A writer, reader or scheduler asks it before it takes memory, and says when it has
 * given memory back. One budget may serve many of them. Safe to share between threads.
 *
 * <p>The calls come from the threads that use the library, without locks of it. A writer is in the middle of a call: to
 * end its region ({@link dev.faro.writer.Writer#flush}) because memory is short, use another thread, or wait for the
 * call that asked to return. What a budget throws leaves the call that asked.
 *
 * <p>Memory that makes reading faster may be refused, and reading continues without it: regions that are kept, what is
 * read ahead, windows of several partitions. A dictionary and the 4 KiB of a scheduler's consumer are needed, so if
 * they are refused, the call fails with {@code io}. A block that is delivered is the caller's, and not asked for.
 *
 * <pre>{@code
 * WriterOptions writing = new WriterOptions(64).memoryBudget(budget);
 * ReaderOptions reading = ReaderOptions.DEFAULT.withMemoryBudget(budget);
 * SchedulerOptions together = SchedulerOptions.DEFAULT.withMemoryBudget(budget);
 * }</pre>
 */
public interface MemoryBudget {
    /**
     * Asks for memory that is about to be taken. This may take time, but must not wait until memory is free: the user that
     * asks may hold it, and gives it back only after a refusal.
     *
     * @param bytes at least as much as will be taken
     * @return whether it is granted. A writer that is refused ends its region and gives its sort memory back. A reader
     *     or scheduler that is refused goes on with less, and may ask again later
     */
    boolean tryGrow(long bytes);

    /** Says that granted memory was given back. All of it is, at the latest when its user has ended. */
    void shrink(long bytes);
}
