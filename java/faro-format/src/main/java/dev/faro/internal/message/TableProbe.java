package dev.faro.internal.message;

import dev.faro.FaroException;

/**
 * A table of a message that was not verified, read by position. Before it follows an offset it checks MSG-1,
 * MSG-3 to MSG-6 (without overlaps) and MSG-8, and nothing else (LKP-2); with a newer minor version, MSG-12.
 */
public final class TableProbe {
    private final MessagePieces message;
    private final TableShape shape;
    private final boolean newerMinor;
    private final long at;
    private final long vtable;
    private final int vtableSize;
    private final int inline;

    private TableProbe(MessagePieces message, TableShape shape, boolean newerMinor, long at) throws FaroException {
        this.message = message;
        this.shape = shape;
        this.newerMinor = newerMinor;
        this.at = at;
        this.vtable = at - message.i32(at);
        message.require(vtable >= 8 && vtable % 2 == 0 && vtable + 4 <= message.size(), "MSG-3: a vtable out of place");
        this.vtableSize = message.u16(vtable);
        int max = newerMinor ? Verifier.MAX_VTABLE : 4 + 2 * shape.fields().size();
        message.require(
                vtableSize % 2 == 0 && vtableSize >= 4 && vtableSize <= max, "MSG-4: a vtable of a wrong size");
        message.require(vtable + vtableSize <= message.size(), "MSG-4: a vtable that ends outside the message");
        this.inline = message.u16(vtable + 2);
        message.require(inline >= 4 && at + inline <= message.size(), "MSG-5: a table that ends outside the message");
    }

    /**
     * Returns the root table of a message, after checking the identifier (MSG-2).
     *
     * @throws FaroException {@code inconsistent-index} at the first byte of the message, {@code truncated} or
     *     {@code io}
     */
    public static TableProbe root(MessagePieces message, MessageKind kind, boolean newerMinor) throws FaroException {
        message.require(message.size() >= 8, "MSG-2: fewer than 8 bytes");
        message.require(message.i32(4) == kind.identifierNumber(), "MSG-2: another identifier");
        return new TableProbe(message, kind.root(), newerMinor, message.follow(0));
    }

    /** The position of a field in the message, or 0 if the field is absent. */
    private long position(int field) throws FaroException {
        int entry = 4 + 2 * field;
        int offset = entry < vtableSize ? message.u16(vtable + entry) : 0;
        if (offset == 0) {
            return 0;
        }
        int length = shape.fields().get(field).inlineSize();
        message.require(offset >= 4 && offset + length <= inline, "MSG-6: a field outside its table");
        message.require((at + offset) % length == 0, "MSG-6: an unaligned field");
        return at + offset;
    }

    /** A 32-bit unsigned field, 0 if absent. */
    public long u32(int field) throws FaroException {
        long position = position(field);
        return position == 0 ? 0 : message.u32(position);
    }

    /** A 64-bit field, 0 if absent. */
    public long u64(int field) throws FaroException {
        long position = position(field);
        return position == 0 ? 0 : message.u64(position);
    }

    /** A vector inside the message (MSG-8), or null if it is absent. */
    public Vector vector(int field) throws FaroException {
        long position = position(field);
        if (position == 0) {
            return null;
        }
        TableShape.Field vector = shape.fields().get(field);
        long from = message.follow(position);
        long count = message.u32(from);
        long bytes = count * vector.size();
        message.require(bytes <= message.size() - from - 4, "MSG-8: a vector that ends outside the message");
        message.require((from + 4) % vector.align() == 0, "MSG-8: an unaligned vector");
        return new Vector(this, vector, from + 4, count);
    }

    /** A vector. Its elements are read one by one; indexes must be below the count. */
    public static final class Vector {
        private final TableProbe owner;
        private final TableShape.Field field;
        private final long first;
        private final long count;

        private Vector(TableProbe owner, TableShape.Field field, long first, long count) {
            this.owner = owner;
            this.field = field;
            this.first = first;
            this.count = count;
        }

        /** The number of elements. */
        public long count() {
            return count;
        }

        /** An element of one byte. */
        public int u8(long index) throws FaroException {
            return owner.message.u8(first + index);
        }

        /** An element of 32 bits. */
        public long u32(long index) throws FaroException {
            return owner.message.u32(first + 4 * index);
        }

        /** An element that is a table. */
        public TableProbe table(long index) throws FaroException {
            long target = owner.message.follow(first + 4 * index);
            return new TableProbe(owner.message, field.table(), owner.newerMinor, target);
        }
    }
}
