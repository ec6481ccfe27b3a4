package dev.faro.writer;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.internal.block.Payloads;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/** Which records and events a writer accepts. */
record RecordRules(Framing framing, long maxPlain) {
    /**
     * Checks a record (WRT-1 to WRT-3).
     *
     * @param rows what the record adds to the number of records in the statistics
     */
    void checkRecord(ByteBuffer record, long rows) throws FaroException {
        Objects.requireNonNull(record, "record");
        if (rows < 0) {
            throw FaroException.invalidArgument("a number of rows", rows);
        }
        if (framing == Framing.ARROW && !Payloads.isArrowMessage(record.slice().order(ByteOrder.LITTLE_ENDIAN))) {
            throw FaroException.invalidArgument("an encapsulated Arrow message", "other bytes");
        }
        if (framing != Framing.OPAQUE) {
            checkSize(record.remaining() + (framing == Framing.RECORDS ? 4L : 0));
        }
    }

    /** Checks an event (WRT-1, WRT-3). */
    void checkEvent(ByteBuffer event, int kind) throws FaroException {
        Objects.requireNonNull(event, "event");
        if (!BlockKind.isEvent(kind)) {
            throw FaroException.invalidArgument("the kind of an event, 1 or 64 to 127", kind);
        }
        checkSize(event.remaining());
    }

    private void checkSize(long plain) throws FaroException {
        if (plain > maxPlain) {
            throw FaroException.limitExceeded("a block of at most " + maxPlain + " plain bytes", plain);
        }
    }

    /** Refuses a kind that is neither data nor an event. */
    static void checkKind(int kind) throws FaroException {
        if (!BlockKind.isPartitionKind(kind)) {
            throw FaroException.invalidArgument("kind 0, 1 or 64 to 127", kind);
        }
    }
}
