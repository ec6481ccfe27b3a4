package dev.faro.hybrid;

/** What the files of a hybrid store keep (HYB-4, HYB-5). */
public enum HybridMode {
    /** All of the output, whether it was consumed or not: it can be read again, and by several consumers. */
    FULL,
    /** Only what memory had no room for before it was consumed. Each partition is read once. */
    SELECTIVE
}
