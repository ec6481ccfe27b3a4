package dev.faro.internal.sortbuffer;

import dev.faro.FaroException;

/** Records in the order of their targets, which are read from the first target to the last. */
interface SortedPart {
    /** Moves to the first target that is equal to or above a number. */
    void seek(int target);

    /** The next target that has records, or {@link Integer#MAX_VALUE} after the last. */
    int target();

    /** Skips the records of a target; returns whether any of them has bytes or is an event. */
    boolean skip(int target);

    /** Passes the records of a target to the sink. */
    void drain(int target, ExtentSink sink) throws FaroException;
}
