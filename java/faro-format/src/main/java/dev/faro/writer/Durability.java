package dev.faro.writer;

/** What is synced to the device (WRT-5). */
public enum Durability {
    /** Nothing. */
    NONE,
    /** Each region's blocks, then its message, before the call that closed the region returns; at the end everything. */
    COMMIT
}
