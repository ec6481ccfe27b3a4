package dev.faro.hybrid;

/** A store as the memory sees it. All calls except {@link #spill} come with the lock of the memory. */
interface Resident {
    /** The bytes in memory that are not about to leave it. */
    long staying();

    /** Whether a consumer is open. */
    boolean isRead();

    /**
     * Decides that a region leaves the memory.
     *
     * @param newest whether it is the newest region that may leave, or the oldest
     * @return false if no region may leave
     */
    boolean giveUp(boolean newest);

    /** Writes what is about to leave, in another thread. */
    void spill();
}
