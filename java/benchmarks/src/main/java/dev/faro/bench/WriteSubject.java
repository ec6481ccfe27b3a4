package dev.faro.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Closeable;

/** Somebody who writes a case: Faro, a peer, or the limit of the machine. */
public interface WriteSubject extends Closeable {
    /** The name in the results. */
    String name();

    /** Plain bytes that it takes in a repetition. */
    long plainBytes();

    /** Writes the case once, from the first record to the return of what finishes the output. */
    Outcome write() throws Exception;

    /** What else the last repetition showed, or null. */
    default ObjectNode figures() {
        return null;
    }

    /** Removes what was written; the clock stands. */
    void clear() throws Exception;

    @Override
    default void close() {}
}
