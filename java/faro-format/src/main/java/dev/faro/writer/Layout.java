package dev.faro.writer;

/** Whether data and index are two files or one. */
public enum Layout {
    /** {@code NAME.data} and {@code NAME.index}. */
    PAIRED,
    /** {@code NAME.faro}. */
    SINGLE
}
