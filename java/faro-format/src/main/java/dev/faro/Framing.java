package dev.faro;

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

    /** The framing of a number, or null if there is none (HDR-1). */
    public static Framing of(int number) {
        return number >= 0 && number < ALL.length ? ALL[number] : null;
    }
}
