package dev.faro;

/** Where a fault is, and so what a program should do next (ERR-5). */
public enum ErrorFamily {
    /** The system: the program may try again. */
    ENVIRONMENT("environment"),
    /** The bytes of the file: the producer has to write them again, or the file has to be repaired. */
    FILE("file"),
    /** The file is larger than the caller allows: a program that trusts the file may raise the limit. */
    LIMIT("limit"),
    /** The call: the program has to be changed. */
    CALLER("caller");

    private final String text;

    ErrorFamily(String text) {
        this.text = text;
    }

    /** The family as the specification writes it, for example {@code environment}. */
    @Override
    public String toString() {
        return text;
    }
}
