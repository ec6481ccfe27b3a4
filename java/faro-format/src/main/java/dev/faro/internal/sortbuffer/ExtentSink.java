package dev.faro.internal.sortbuffer;

import dev.faro.FaroException;
import dev.faro.internal.index.Members;
import java.nio.ByteBuffer;

/** Takes the records of a region, extent by extent in the order of the file. */
public interface ExtentSink {
    /** Begins the own extent of a partition. */
    void beginOwn(int partition) throws FaroException;

    /** Begins a shared extent. All own extents come before it. */
    void beginShared(Members members) throws FaroException;

    /**
     * Takes one record or event of the extent.
     *
     * @param source a buffer with the bytes from index {@code at} on; its position and limit are ignored
     * @param kind 0 for a record, or the kind of the event
     * @param rows what the record adds to the number of records in the statistics
     */
    void record(ByteBuffer source, int at, int length, int kind, long rows) throws FaroException;

    /**
     * Takes records of the extent. None of them is an event, and each is one row.
     *
     * @param source a little-endian buffer with the records from index {@code from} to {@code to}, each after its
     *     length in 4 bytes
     * @param count the number of records
     */
    default void records(ByteBuffer source, int from, int to, int count) throws FaroException {
        int length;
        for (int at = from; at < to; at += 4 + length) {
            length = source.getInt(at);
            record(source, at + 4, length, 0, 1);
        }
    }

    /**
     * Takes records of the extent without their lengths, with framing opaque. None of them is an event, and each is one
     * row.
     *
     * @param source a buffer with the bytes of all records from index {@code from} to {@code to}
     * @param count the number of records
     */
    void bytes(ByteBuffer source, int from, int to, int count) throws FaroException;

    /** Adds to the number of records in the extent. Whole blocks follow, which bring them. */
    default void addRecords(long records) {
        throw new IllegalStateException("only for records in slots");
    }

    /**
     * Begins a whole block of the extent.
     *
     * @param size the size of its payload in bytes
     * @param kind 0 for records, or the kind of an event
     */
    default void beginBlock(int size, int kind) throws FaroException {
        throw new IllegalStateException("only for records in slots");
    }

    /** Takes the next bytes of the block's payload. */
    default void addToBlock(ByteBuffer source, int from, int length) {
        throw new IllegalStateException("only for records in slots");
    }

    /** Ends the block. */
    default void endBlock(int kind) throws FaroException {
        throw new IllegalStateException("only for records in slots");
    }

    /** Ends the extent. */
    void endExtent() throws FaroException;
}
