package dev.faro.internal.sortbuffer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Where the next record of a partition goes: the last slot of its chain, with an open block. It is small, because adding
 * a record to one of many partitions begins with reading it. All else is in {@link SlotBlocks}. The tail of a file is
 * {@link dev.faro.internal.bytes.Tail}.
 */
final class Tail {
    static final int LENGTH = 4;
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    /** The memory of the slot. */
    byte[] bytes;
    /** The index of the next free byte. */
    int at;
    /** Records up to this index need neither another block nor another slot. */
    int limit;
    long records;

    /** Adds a record if it needs neither another block nor another slot. */
    boolean addAtOnce(ByteBuffer record) {
        int length = record.remaining();
        int to = at + LENGTH;
        if (length > limit - to) {
            return false;
        }
        INT.set(bytes, at, length);
        record.get(record.position(), bytes, to, length);
        at = to + length;
        records++;
        return true;
    }

    /** Forgets the slot and the records. */
    void clear() {
        bytes = null;
        at = 0;
        limit = 0;
        records = 0;
    }
}
