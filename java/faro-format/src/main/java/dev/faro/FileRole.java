package dev.faro;

/** What a file is to an output: which one of a pair, or the only one. */
public enum FileRole {
    /** The data file of a pair. */
    DATA("data"),
    /** The index file of a pair. */
    INDEX("index"),
    /** A single file. */
    SINGLE("single");

    private final String text;

    FileRole(String text) {
        this.text = text;
    }

    /** The role in lower case, as errors print it. */
    @Override
    public String toString() {
        return text;
    }
}
