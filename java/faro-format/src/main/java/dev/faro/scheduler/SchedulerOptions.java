package dev.faro.scheduler;

import dev.faro.FaroException;

/**
 * How a scheduler reads; sizes in bytes. {@link Scheduler} refuses sizes outside these ranges.
 *
 * @param gapBytes the largest gap between two requests that is read over: 0 to 2^30
 * @param readBytes the length beyond which reads are not made longer: 4,096 to 2^30
 * @param budgetBytes of what was read and not taken yet, for all consumers together: 4,096 to 2^40; beyond it, a
 *     consumer that holds nothing is still served 4 KiB
 */
public record SchedulerOptions(int gapBytes, int readBytes, long budgetBytes) {
    /** The least {@code readBytes} and {@code budgetBytes}. */
    public static final int LEAST = 4 << 10;

    /** Gaps of 64 KiB, reads of 4 MiB, a budget of 64 MiB. */
    public static final SchedulerOptions DEFAULT = new SchedulerOptions(64 << 10, 4 << 20, 64 << 20);

    private static final long MOST_READ = 1L << 30;
    private static final long MOST_BUDGET = 1L << 40;

    /** Refuses sizes out of range; a record's constructor cannot. */
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
