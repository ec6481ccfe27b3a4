package dev.faro;

/** What a file is, as its header says. */
public enum FileKind {
    /** The data file of a pair. */
    DATA(1),
    /** The index file of a pair. */
    INDEX(2),
    /** Data and index in one. */
    SINGLE(3);

    private final int number;

    FileKind(int number) {
        this.number = number;
    }

    /** The number that the header holds. */
    public int number() {
        return number;
    }

    /** The kind of a number, or null if there is none. */
    public static FileKind of(int number) {
        return switch (number) {
            case 1 -> DATA;
            case 2 -> INDEX;
            case 3 -> SINGLE;
            default -> null;
        };
    }
}
