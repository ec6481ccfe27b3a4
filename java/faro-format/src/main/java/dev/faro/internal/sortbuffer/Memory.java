package dev.faro.internal.sortbuffer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Memory of a part of the sort buffer, with access to little-endian numbers. It is on the heap, because copies between
 * arrays are the cheapest for short records in Java, or it is an engine's buffer.
 */
final class Memory {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** Null for an engine's buffer. */
    final byte[] bytes;
    /** The same memory as a buffer. */
    final ByteBuffer view;
    private final ByteBuffer owned;
    private final int capacity;

    Memory(int capacity) {
        bytes = new byte[capacity];
        view = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        owned = null;
        this.capacity = capacity;
    }

    /** Uses the first bytes of an engine's buffer, heap or direct. */
    Memory(ByteBuffer engine, int capacity) {
        bytes = null;
        view = engine.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
        owned = engine;
        this.capacity = capacity;
    }

    /** The rest of an engine's buffer from an index on, which is a multiple of 8. */
    Memory from(int index) {
        return new Memory(view.slice(index, capacity - index), capacity - index);
    }

    /** The engine's buffer as it was taken, or null. */
    ByteBuffer owned() {
        return owned;
    }

    /** Copies a record to an index; its position stays. Returns the index after it. */
    int put(int at, ByteBuffer record) {
        int length = record.remaining();
        if (bytes != null) {
            record.get(record.position(), bytes, at, length);
        } else {
            view.put(at, record, record.position(), length);
        }
        return at + length;
    }

    /** Copies bytes of this memory to other memory. */
    void copy(int from, Memory to, int at, int size) {
        if (bytes != null && to.bytes != null) {
            System.arraycopy(bytes, from, to.bytes, at, size);
        } else {
            to.view.put(at, view, from, size);
        }
    }

    byte getByte(int at) {
        return bytes != null ? bytes[at] : view.get(at);
    }

    void putByte(int at, byte value) {
        if (bytes != null) {
            bytes[at] = value;
        } else {
            view.put(at, value);
        }
    }

    int capacity() {
        return capacity;
    }

    int getInt(int at) {
        return bytes != null ? (int) INT.get(bytes, at) : view.getInt(at);
    }

    void putInt(int at, int value) {
        if (bytes != null) {
            INT.set(bytes, at, value);
        } else {
            view.putInt(at, value);
        }
    }

    long getLong(int at) {
        return bytes != null ? (long) LONG.get(bytes, at) : view.getLong(at);
    }

    void putLong(int at, long value) {
        if (bytes != null) {
            LONG.set(bytes, at, value);
        } else {
            view.putLong(at, value);
        }
    }
}
