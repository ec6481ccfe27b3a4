package dev.faro;

import java.util.List;

/** The role of a file in its output. */
public enum FileRole {
    /** The data file of a pair. */
    DATA("data"),
    /** The index file of a pair. */
    INDEX("index"),
    /** The only file of an output. */
    SINGLE("single"),
    /** A fragment, in a stream or as a file (FRG-2). Its offsets count from its first byte. */
    FRAGMENT("fragment");

    /** The roles of files that an output can have. */
    public static final List<FileRole> OF_OUTPUTS = List.of(DATA, INDEX, SINGLE);

    private final String text;

    FileRole(String text) {
        this.text = text;
    }

    /** The role in lower case, as error messages print it. */
    @Override
    public String toString() {
        return text;
    }
}
