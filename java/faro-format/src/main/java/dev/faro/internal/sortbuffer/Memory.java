package dev.faro.internal.sortbuffer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Memory of a part of the sort buffer, with access to little-endian numbers. It is on the heap, because copies between
 * arrays are the cheapest for short records in Java.
 */
final class Memory {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    final byte[] bytes;
    /** The same memory as a buffer. */
    final ByteBuffer view;

    Memory(int capacity) {
        bytes = new byte[capacity];
        view = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    int capacity() {
        return bytes.length;
    }

    int getInt(int at) {
        return (int) INT.get(bytes, at);
    }

    void putInt(int at, int value) {
        INT.set(bytes, at, value);
    }

    long getLong(int at) {
        return (long) LONG.get(bytes, at);
    }

    void putLong(int at, long value) {
        LONG.set(bytes, at, value);
    }
}
