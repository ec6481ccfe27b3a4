package dev.faro.header;

/** What the plain payloads of data blocks are (FRM). */
public enum Framing {
    /** A byte stream of the engine's (FRM-1). */
    OPAQUE,
    /** Whole records, each with its length before it (FRM-2). */
    RECORDS,
    /** One encapsulated Arrow IPC message (FRM-3). */
    ARROW;

    private static final Framing[] ALL = values();

    /** The number that the header holds. */
    public int number() {
        return ordinal();
    }

    /** The framing of a number that was checked (HDR-1). */
    static Framing of(int number) {
        return ALL[number];
    }

    static boolean isKnown(int number) {
        return number < ALL.length;
    }
}
