package dev.faro;

/** The kind of a file, as its header states it. */
public enum FileKind {
    /** The data file of a pair. */
    DATA(1),
    /** The index file of a pair. */
    INDEX(2),
    /** Data and index in one file. */
    SINGLE(3),
    /** A part of an output, as it is pushed to a merge (FRG-2). */
    FRAGMENT(5);

    private final int number;

    FileKind(int number) {
        this.number = number;
    }

    /** The number in the header. */
    public int number() {
        return number;
    }

    /** The kind that has a number, or null if none has it. */
    public static FileKind of(int number) {
        return switch (number) {
            case 1 -> DATA;
            case 2 -> INDEX;
            case 3 -> SINGLE;
            case 5 -> FRAGMENT;
            default -> null;
        };
    }
}
