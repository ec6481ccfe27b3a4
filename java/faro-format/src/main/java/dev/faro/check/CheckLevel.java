package dev.faro.check;

/** How deep a check goes (CHK-1); each level includes those before it. */
public enum CheckLevel {
    /** Headers, tail, all metadata, stored statistics. */
    STRUCTURE,
    /** Also every partition block but its decoding. */
    CHECKSUMS,
    /** Also what blocks decode to, and the other statistics. */
    DECODE
}
