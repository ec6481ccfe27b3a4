package dev.faro.scheduler;

/**
 * How a scheduler reads; sizes in bytes.
 *
 * @param gapBytes the largest gap between two requests that is read over
 * @param readBytes the length beyond which reads are not made longer
 * @param budgetBytes of what was read and not taken yet, for all consumers together; beyond it, a consumer that holds
 *     nothing is still served 4 KiB
 */
public record SchedulerOptions(int gapBytes, int readBytes, long budgetBytes) {
    /** Gaps of 64 KiB, reads of 4 MiB, a budget of 64 MiB. */
    public static final SchedulerOptions DEFAULT = new SchedulerOptions(64 << 10, 4 << 20, 64 << 20);

    /** Options; a gap is not negative, the other sizes are at least 1. */
    public SchedulerOptions {
        gapBytes = Math.max(0, gapBytes);
        readBytes = Math.max(1, readBytes);
        budgetBytes = Math.max(1, budgetBytes);
    }
}
