package dev.faro.check;

/** How much a check covers (CHK-1). Each level includes the levels before it. */
public enum CheckLevel {
    /** Headers, tail, all metadata, and the statistics of stored bytes. */
    STRUCTURE,
    /** Also every partition block, without decoding it. */
    CHECKSUMS,
    /** Also the decoded contents of blocks, and the other statistics. */
    DECODE
}
