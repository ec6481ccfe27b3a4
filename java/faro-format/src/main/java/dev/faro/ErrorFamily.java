package dev.faro;

/** Where a fault is, hence what a program does next (ERR-5). */
public enum ErrorFamily {
    /** The system: a program may try again. */
    ENVIRONMENT("environment"),
    /** The bytes of the file: its producer writes them again, or the file is repaired. */
    FILE("file"),
    /** The file is larger than the caller allows: a program that trusts it may raise the limit. */
    LIMIT("limit"),
    /** The call. */
    CALLER("caller");

    private final String text;

    ErrorFamily(String text) {
        this.text = text;
    }

    /** The family as the specification writes it, such as {@code environment}. */
    @Override
    public String toString() {
        return text;
    }
}
