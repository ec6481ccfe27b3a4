package dev.faro.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Closeable;

/** A subject that writes a case: Faro, a peer, or the limit of the machine. */
public interface WriteSubject extends Closeable {
    /** The name in the results. */
    String name();

    /** The plain size of a repetition in bytes. */
    long plainBytes();

    /** Writes the case once, from the first record to the end of the call that finishes the output. */
    Outcome write() throws Exception;

    /** Other figures of the last repetition, or null. */
    default ObjectNode figures() {
        return null;
    }

    /** Removes what was written; this is not measured. */
    void clear() throws Exception;

    @Override
    default void close() {}
}
