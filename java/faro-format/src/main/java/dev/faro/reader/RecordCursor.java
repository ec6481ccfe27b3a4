package dev.faro.reader;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.Framing;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The records and events of a partition in order. The framing of a block is checked before any of its records is
 * delivered (FRM-5). For one thread.
 */
public final class RecordCursor implements Closeable {
    private final BlockCursor blocks;
    private ByteBuffer payload;
    private int at;
    private ByteBuffer record;
    private int kind;

    RecordCursor(BlockCursor blocks) {
        this.blocks = blocks;
    }

    /**
     * Moves to the next record or event.
     *
     * @return false after the last one
     * @throws FaroException as {@link BlockCursor#next} and {@link BlockCursor#framedPayload}
     */
    public boolean next() throws FaroException {
        if (payload == null || at == payload.limit()) {
            if (!blocks.next()) {
                return false;
            }
            payload = blocks.framedPayload();
            at = 0;
            kind = blocks.kind();
            if (kind != BlockKind.DATA || blocks.header().framing() == Framing.ARROW) {
                record = payload;
                at = payload.limit();
                return true;
            }
        }
        int length = payload.getInt(at);
        record = payload.slice(at + 4, length).order(ByteOrder.LITTLE_ENDIAN);
        at += 4 + length;
        return true;
    }

    /** The bytes of the record or event, as a little-endian view that is valid until the cursor leaves the block. */
    public ByteBuffer record() {
        return record;
    }

    /** 0 for a record, otherwise the kind of the event. */
    public int kind() {
        return kind;
    }

    @Override
    public void close() {
        blocks.close();
    }
}
