package dev.faro.reader;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.Framing;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The records and events of a partition in order. Each block's framing is checked before anything of it is delivered
 * (FRM-5). For one thread.
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
     * Goes to the next record or event.
     *
     * @return false behind the last
     * @throws FaroException what {@link BlockCursor#next} and {@link BlockCursor#framedPayload} throw
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

    /** The record or event, a view that is valid until the block is left; little-endian. */
    public ByteBuffer record() {
        return record;
    }

    /** 0 for a record, else the kind of the event. */
    public int kind() {
        return kind;
    }

    @Override
    public void close() {
        blocks.close();
    }
}
