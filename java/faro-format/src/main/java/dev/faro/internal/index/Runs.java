package dev.faro.internal.index;

/** The layout of the schema's struct {@code Run}: offsets of its fields, in bytes. Its producer is at 0. */
final class Runs {
    /** The size of a run in bytes. */
    static final int SIZE = 32;
    static final int ATTEMPT = 8;
    static final int FIRST_BLOCK = 16;
    static final int BLOCKS = 20;
    static final int LENGTH = 24;
    static final int FLAGS = 28;
    /** The flag <i>last</i>: the producer has no further block for the partition (REG-8). */
    static final int LAST = 1;

    private Runs() {}
}
