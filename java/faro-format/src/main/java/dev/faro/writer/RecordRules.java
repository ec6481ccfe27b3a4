package dev.faro.writer;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.internal.block.Payloads;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Which records and events a writer takes. */
record RecordRules(Framing framing, long maxPlain) {
    /** WRT-1 to WRT-3. */
    void check(ByteBuffer record, int kind, long rows) throws FaroException {
        checkKind(kind);
        boolean event = kind != BlockKind.DATA;
        if (rows < 0) {
            throw FaroException.invalidArgument("a count of rows", rows);
        }
        if (!event && framing == Framing.ARROW
                && !Payloads.isArrowMessage(record.slice().order(ByteOrder.LITTLE_ENDIAN))) {
            throw FaroException.invalidArgument("an encapsulated Arrow message", "other bytes");
        }
        long plain = record.remaining() + (!event && framing == Framing.RECORDS ? 4L : 0);
        if (plain > maxPlain && (event || framing != Framing.OPAQUE)) {
            throw FaroException.limitExceeded("a block of at most " + maxPlain + " plain bytes", plain);
        }
    }

    /** Refuses what is neither data nor an event. */
    static void checkKind(int kind) throws FaroException {
        if (!BlockKind.isPartitionKind(kind)) {
            throw FaroException.invalidArgument("kind 0, 1 or 64 to 127", kind);
        }
    }
}
