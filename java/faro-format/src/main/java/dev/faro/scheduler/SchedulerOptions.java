package dev.faro.scheduler;

import dev.faro.FaroException;

/**
 * How a scheduler reads; sizes in bytes. {@link Scheduler} refuses sizes outside of the ranges that are given here.
 * Unchangeable: {@code SchedulerOptions.DEFAULT.withBudgetBytes(16 << 20)}.
 */
public final class SchedulerOptions {
    /** Gaps of 64 KiB, reads of 4 MiB, a budget of 64 MiB. */
    public static final SchedulerOptions DEFAULT = new SchedulerOptions(64 << 10, 4 << 20, 64 << 20);

    /** The least {@code readBytes} and {@code budgetBytes}. */
    static final int LEAST = 4 << 10;
    private static final long MOST_READ = 1L << 30;
    private static final long MOST_BUDGET = 1L << 40;

    private final int gapBytes;
    private final int readBytes;
    private final long budgetBytes;

    private SchedulerOptions(int gapBytes, int readBytes, long budgetBytes) {
        this.gapBytes = gapBytes;
        this.readBytes = readBytes;
        this.budgetBytes = budgetBytes;
    }

    /** The largest gap between two requests that is read over: 0 to 2^30. */
    public int gapBytes() {
        return gapBytes;
    }

    /** The same options with another {@link #gapBytes}. */
    public SchedulerOptions withGapBytes(int other) {
        return new SchedulerOptions(other, readBytes, budgetBytes);
    }

    /** The length beyond which reads are not made longer: 4,096 to 2^30. */
    public int readBytes() {
        return readBytes;
    }

    /** The same options with another {@link #readBytes}. */
    public SchedulerOptions withReadBytes(int other) {
        return new SchedulerOptions(gapBytes, other, budgetBytes);
    }

    /**
     * The most bytes that are read and not taken yet, for all consumers together: 4,096 to 2^40. Beyond it, a consumer
     * that holds nothing still gets 4 KiB.
     */
    public long budgetBytes() {
        return budgetBytes;
    }

    /** The same options with another {@link #budgetBytes}. */
    public SchedulerOptions withBudgetBytes(long other) {
        return new SchedulerOptions(gapBytes, readBytes, other);
    }

    /** Refuses sizes that are out of range. */
    SchedulerOptions checked() throws FaroException {
        check("gapBytes", gapBytes, 0, MOST_READ);
        check("readBytes", readBytes, LEAST, MOST_READ);
        check("budgetBytes", budgetBytes, LEAST, MOST_BUDGET);
        return this;
    }

    private static void check(String name, long value, long least, long most) throws FaroException {
        if (value < least || value > most) {
            throw FaroException.invalidArgument(name + " from " + least + " to " + most, value);
        }
    }
}
