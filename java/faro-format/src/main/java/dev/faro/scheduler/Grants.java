package dev.faro.scheduler;

import dev.faro.FaroException;
import dev.faro.MemoryBudget;
import dev.faro.MemoryRefusedException;
import dev.faro.internal.bytes.Grant;
import dev.faro.internal.storage.InputFile;

/**
 * What an engine's budget has granted a scheduler for its own buffers. Each open consumer can always use {@link #LEAST}
 * bytes, so that none waits for ever after a refusal. The scheduler's lock guards the numbers; the budget itself is
 * called without it. Sizes are those of buffers: whole pages.
 */
final class Grants {
    /** What is granted for each consumer before it is opened, in bytes; and the size of a page. */
    static final int LEAST = SchedulerOptions.MIN_SIZE;

    /** Null if the engine is not asked, because it supplies the buffers or has no budget. */
    private final MemoryBudget budget;
    private final long most;
    private final long mostAtOnce;
    private long atOnce;
    private volatile long granted;
    /** What is being asked for now. */
    private long asked;
    /** The sum over the consumers: what each uses, and not less than {@link #LEAST} while it is open. */
    private long claimed;
    /** By how much the sum would grow with all requests. */
    private long wanted;

    Grants(SchedulerOptions options, MemoryBudget budget) {
        this.budget = budget;
        this.most = options.budgetBytes();
        this.mostAtOnce = Math.max(LEAST, options.readBytes());
        this.atOnce = mostAtOnce;
    }

    /** Whether there is an engine to ask. If not, no call changes anything. */
    boolean asks() {
        return budget != null;
    }

    /** The budget, to be called without the lock; null if it is not asked. */
    MemoryBudget budget() {
        return budget;
    }

    /** The memory that may be used, in bytes. Needs no lock. */
    long granted() {
        return budget == null ? Long.MAX_VALUE : granted;
    }

    /** The memory that bytes of a file take, if it is asked for; otherwise their number. */
    long size(long bytes) {
        return budget == null ? bytes : bytes + LEAST - 1 & -LEAST;
    }

    /** Asks for the memory of a consumer that is to be opened: {@link #LEAST} bytes. Without the lock. */
    boolean askLeast() {
        return Grant.tryGrow(budget, LEAST);
    }

    /**
     * Checks that there is memory for a consumer that is to be opened: it was granted, or the consumers that read ahead
     * can spare it.
     *
     * @throws FaroException {@code io} if there is none
     */
    void checkLeast(boolean yes, InputFile file) throws FaroException {
        if (!yes && free() < LEAST) {
            throw file.io("memory for a consumer", new MemoryRefusedException());
        }
    }

    /** The consumer was not opened. Without the lock. */
    void giveLeastBack() {
        Grant.shrink(budget, LEAST);
    }

    /** A consumer was opened. It has {@link #LEAST} bytes, which were granted for it or which others spare. */
    void opened(boolean yes) {
        if (budget != null) {
            granted += yes ? LEAST : 0;
            claimed += LEAST;
        }
    }

    /** A consumer has no share any more, as it says already; it may still use memory. */
    void giveUp(Account consumer) {
        if (budget != null) {
            claimed -= Math.max(0, LEAST - consumer.used);
        }
    }

    /** A consumer uses more memory, or less. */
    void use(Account consumer, long change) {
        if (budget != null) {
            long before = claim(consumer, 0);
            consumer.used += change;
            claimed += claim(consumer, 0) - before;
        }
    }

    /** A consumer has another request now, or none, of 0 bytes. */
    void want(Account consumer, long bytes) {
        if (budget != null) {
            long more = bytes == 0 ? 0 : extra(consumer, bytes);
            wanted += more - consumer.wanted;
            consumer.wanted = more;
        }
    }

    private static long claim(Account consumer, long more) {
        return Math.max(consumer.counted ? LEAST : 0, consumer.used + more);
    }

    /** The memory that a consumer would take from what all share, to read this many bytes. */
    long extra(Account consumer, long bytes) {
        return claim(consumer, size(bytes)) - claim(consumer, 0);
    }

    /** What all share and none uses, in bytes. */
    long free() {
        return granted() - claimed;
    }

    /** How many bytes could be read for a consumer now: whole pages, perhaps 0. */
    long fits(Account consumer) {
        return Math.max(0, free() + Math.max(0, LEAST - consumer.used)) & -LEAST;
    }

    /** How much to ask for now, in bytes; 0 for nothing. The answer goes to {@link #answered}. */
    long ask() {
        long more = Math.min(Math.min(most, claimed + wanted) - granted - asked, atOnce);
        asked += Math.max(0, more);
        return Math.max(0, more);
    }

    /** The budget has answered. After a refusal, the next time less is asked for. */
    void answered(long bytes, boolean yes) {
        asked -= bytes;
        if (yes) {
            granted += bytes;
        }
        atOnce = yes ? Math.min(mostAtOnce, 2 * atOnce) : Math.max(LEAST, atOnce / 2);
    }

    /** What is to be given back, in bytes, because no consumer uses it; it is not granted any more. */
    long excess(boolean everything) {
        long back = Math.max(0, everything ? granted : granted - claimed);
        granted -= back;
        return back;
    }
}
