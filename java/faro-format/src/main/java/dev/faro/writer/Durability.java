package dev.faro.writer;

/** What a writer syncs to the device (WRT-5). */
public enum Durability {
    /** Nothing. */
    NONE,
    /**
     * Each region's blocks and then its message, before the call that closes the region returns; at the end,
     * everything.
     */
    COMMIT
}
