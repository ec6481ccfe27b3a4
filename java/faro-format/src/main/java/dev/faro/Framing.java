package dev.faro;

/** What the plain payload of a data block contains (FRM). */
public enum Framing {
    /** A byte stream that only the engine understands (FRM-1). */
    OPAQUE,
    /** Whole records, each preceded by its length (FRM-2). */
    RECORDS,
    /** One encapsulated Arrow IPC message (FRM-3). */
    ARROW;

    private static final Framing[] ALL = values();

    /** The number in the header. */
    public int number() {
        return ordinal();
    }

    /** The framing that has a number, or null if none has it (HDR-1). */
    public static Framing of(int number) {
        return number >= 0 && number < ALL.length ? ALL[number] : null;
    }
}
