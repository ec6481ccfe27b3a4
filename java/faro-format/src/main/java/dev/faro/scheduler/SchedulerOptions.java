package dev.faro.scheduler;

import dev.faro.FaroException;
import dev.faro.MemoryBudget;

/**
 * Options of a scheduler; sizes are in bytes. {@link Scheduler} refuses sizes outside the ranges given here. Immutable:
 * {@code SchedulerOptions.DEFAULT.withBudgetBytes(16 << 20)}.
 */
public final class SchedulerOptions {
    /** Gaps of 64 KiB, reads of 4 MiB, a budget of 64 MiB. */
    public static final SchedulerOptions DEFAULT = new SchedulerOptions(64 << 10, 4 << 20, 64 << 20, null);

    /** The minimum of {@code readBytes} and of {@code budgetBytes}. */
    public static final int MIN_SIZE = 4 << 10;
    private static final long MAX_READ = 1L << 30;
    private static final long MAX_BUDGET = 1L << 40;

    private final int gapBytes;
    private final int readBytes;
    private final long budgetBytes;
    private final MemoryBudget memoryBudget;

    private SchedulerOptions(int gapBytes, int readBytes, long budgetBytes, MemoryBudget memoryBudget) {
        this.gapBytes = gapBytes;
        this.readBytes = readBytes;
        this.budgetBytes = budgetBytes;
        this.memoryBudget = memoryBudget;
    }

    /** The largest gap between two requests inside one read: 0 to 2^30. */
    public int gapBytes() {
        return gapBytes;
    }

    /** The same options with another {@link #gapBytes}. */
    public SchedulerOptions withGapBytes(int other) {
        return new SchedulerOptions(other, readBytes, budgetBytes, memoryBudget);
    }

    /** A read grows by another request only up to this length: 4,096 to 2^30. */
    public int readBytes() {
        return readBytes;
    }

    /** The same options with another {@link #readBytes}. */
    public SchedulerOptions withReadBytes(int other) {
        return new SchedulerOptions(gapBytes, other, budgetBytes, memoryBudget);
    }

    /**
     * The maximum number of bytes that are read and not taken yet, for all consumers together: 4,096 to 2^40. When it
     * is reached, a consumer that holds nothing can still get 4 KiB.
     */
    public long budgetBytes() {
        return budgetBytes;
    }

    /** The same options with another {@link #budgetBytes}. */
    public SchedulerOptions withBudgetBytes(long other) {
        return new SchedulerOptions(gapBytes, readBytes, other, memoryBudget);
    }

    /** The engine's budget of memory; null, the default, if everything is granted. */
    public MemoryBudget memoryBudget() {
        return memoryBudget;
    }

    /**
     * The same options with another {@link #memoryBudget}. The scheduler asks it for the memory of what is read and not
     * taken, in pages of 4 KiB, up to {@link #budgetBytes}: 4 KiB when a consumer is opened, which fails with
     * {@code io} if that is refused, and more when it could be used. After a refusal it reads less at once. It also asks
     * for the memory in which a read for several consumers lands. Memory of an engine's {@link dev.faro.Buffers} is not
     * asked for.
     */
    public SchedulerOptions withMemoryBudget(MemoryBudget other) {
        return new SchedulerOptions(gapBytes, readBytes, budgetBytes, other);
    }

    /** Refuses sizes that are out of range. */
    SchedulerOptions checked() throws FaroException {
        check("gapBytes", gapBytes, 0, MAX_READ);
        check("readBytes", readBytes, MIN_SIZE, MAX_READ);
        check("budgetBytes", budgetBytes, MIN_SIZE, MAX_BUDGET);
        return this;
    }

    private static void check(String name, long value, long min, long max) throws FaroException {
        if (value < min || value > max) {
            throw FaroException.invalidArgument(name + " from " + min + " to " + max, value);
        }
    }
}
