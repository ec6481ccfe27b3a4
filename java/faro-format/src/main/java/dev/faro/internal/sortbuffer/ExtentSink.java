package dev.faro.internal.sortbuffer;

import dev.faro.FaroException;
import dev.faro.internal.index.Members;
import java.nio.ByteBuffer;

/** Takes the records of a region, extent by extent in the order in which they stand in the file. */
public interface ExtentSink {
    /** Begins the own extent of a partition. */
    void beginOwn(int partition) throws FaroException;

    /** Begins a shared extent, behind all own ones. */
    void beginShared(Members members) throws FaroException;

    /**
     * Takes one record or event of the extent.
     *
     * @param source buffer that holds its bytes from index {@code at} on; position and limit mean nothing
     * @param kind 0 for a record, else the kind of the event
     * @param rows what the record counts in the statistics
     */
    void record(ByteBuffer source, int at, int length, int kind, long rows) throws FaroException;

    /**
     * Takes records of the extent, none of them an event, each one row.
     *
     * @param source little-endian buffer that holds from index {@code from} to {@code to} one after another, each behind
     *     its length in 4 bytes
     * @param count how many these are
     */
    default void records(ByteBuffer source, int from, int to, int count) throws FaroException {
        int length;
        for (int at = from; at < to; at += 4 + length) {
            length = source.getInt(at);
            record(source, at + 4, length, 0, 1);
        }
    }

    /**
     * Takes records of the extent without their lengths, none of them an event, each one row; only with framing opaque.
     *
     * @param source buffer that holds their bytes from index {@code from} to {@code to}
     * @param count how many these are
     */
    void bytes(ByteBuffer source, int from, int to, int count) throws FaroException;

    /** Ends the extent. */
    void endExtent() throws FaroException;
}
