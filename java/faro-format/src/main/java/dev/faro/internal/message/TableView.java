package dev.faro.internal.message;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Reads a table of a verified message. The accessors that flatc generates for Java are not used, because they read
 * offsets of 2^15 and more in a vtable as negative.
 */
public final class TableView {
    private final ByteBuffer message;
    private final int at;

    private TableView(ByteBuffer message, int at) {
        this.message = message;
        this.at = at;
    }

    /** The root table of a verified little-endian message. */
    public static TableView root(ByteBuffer message) {
        return new TableView(message, message.getInt(0));
    }

    /** The position of a field in the message, or 0 if the field is absent. */
    private int position(int field) {
        int vtable = at - message.getInt(at);
        int entry = 4 + 2 * field;
        if (entry >= (message.getShort(vtable) & 0xFFFF)) {
            return 0;
        }
        int offset = message.getShort(vtable + entry) & 0xFFFF;
        return offset == 0 ? 0 : at + offset;
    }

    /** Whether a field is present. */
    public boolean has(int field) {
        return position(field) != 0;
    }

    /** A 32-bit unsigned field, 0 if absent. */
    public long u32(int field) {
        int position = position(field);
        return position == 0 ? 0 : message.getInt(position) & 0xFFFFFFFFL;
    }

    /** A 64-bit field, 0 if absent. */
    public long u64(int field) {
        int position = position(field);
        return position == 0 ? 0 : message.getLong(position);
    }

    private int target(int position) {
        return position + message.getInt(position);
    }

    /** The number of elements of a vector, 0 if it is absent. */
    public int length(int field) {
        int position = position(field);
        return position == 0 ? 0 : message.getInt(target(position));
    }

    /** The position of a vector's first element in the message, or -1 if the vector is absent. */
    public int vectorAt(int field) {
        int position = position(field);
        return position == 0 ? -1 : target(position) + 4;
    }

    /** The bytes of a vector or string as a little-endian buffer, from 0 to its limit; null if it is absent. */
    public ByteBuffer bytes(int field, int elementSize) {
        int from = vectorAt(field);
        return from < 0 ? null : message.slice(from, length(field) * elementSize).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** A string, or null if it is absent. */
    public String text(int field) {
        ByteBuffer bytes = bytes(field, 1);
        return bytes == null ? null : StandardCharsets.UTF_8.decode(bytes).toString();
    }

    /** A table, or null if it is absent. */
    public TableView table(int field) {
        int position = position(field);
        return position == 0 ? null : new TableView(message, target(position));
    }

    /** A table in a vector that has this element. */
    public TableView table(int field, int element) {
        return new TableView(message, target(vectorAt(field) + 4 * element));
    }
}
