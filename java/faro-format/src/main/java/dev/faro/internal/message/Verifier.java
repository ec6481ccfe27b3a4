package dev.faro.internal.message;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.internal.storage.InputFile;
import java.nio.ByteBuffer;

/**
 * Checks whether a message is structurally valid (MSG-1 to MSG-14; less strictly for a newer minor version, VER-2).
 * This happens before any accessor of FlatBuffers reads it. Time and memory are linear in the size of the message,
 * except for sorting.
 */
public final class Verifier {
    /** The maximum size of a vtable in bytes, for a newer minor version (MSG-12). */
    static final int MAX_VTABLE = 132;
    private static final int MAX_GAP = 7;

    private final ByteBuffer bytes;
    private final int size;
    private final boolean newerMinor;
    private final Parts parts = new Parts();
    private final Parts vtables = new Parts();
    private long visited;

    /** A violated rule. It has no stack trace, because it never leaves this class. */
    private static final class Fault extends Exception {
        private static final long serialVersionUID = 1;

        Fault(String message) {
            super(message, null, false, false);
        }
    }

    private Verifier(ByteBuffer bytes, boolean newerMinor) {
        this.bytes = bytes;
        this.size = bytes.limit();
        this.newerMinor = newerMinor;
    }

    /**
     * Checks a message.
     *
     * @param message little-endian, read from 0 to its limit
     * @param newerMinor whether the file's minor version is above this reader's (MSG-12)
     * @param offset the offset of the message's first byte in the file
     * @throws FaroException {@code malformed-message} at that offset (MSG-13)
     */
    public static void check(ByteBuffer message, MessageKind kind, boolean newerMinor, InputFile file, long offset)
            throws FaroException {
        String fault = fault(message, kind, newerMinor);
        if (fault != null) {
            throw file.fault(ErrorCode.MALFORMED_MESSAGE, offset, "a valid message " + kind.identifier(), fault);
        }
    }

    /** Returns the first fault of a message, or null. */
    static String fault(ByteBuffer message, MessageKind kind, boolean newerMinor) {
        try {
            new Verifier(message, newerMinor).message(kind);
            return null;
        } catch (Fault e) {
            return e.getMessage();
        }
    }

    private void message(MessageKind kind) throws Fault {
        require(size >= 8, "MSG-2: fewer than 8 bytes");
        require(bytes.getInt(4) == kind.identifierNumber(), "MSG-2: another identifier");
        part(0, 8);
        table(follow(0), kind.root());
        checkCover();
    }

    /** The target of the offset at a position (MSG-1). */
    private int follow(int at) throws Fault {
        long distance = bytes.getInt(at) & 0xFFFFFFFFL;
        long target = at + distance;
        require(distance >= 4, "MSG-1: an offset below 4");
        require(at % 4 == 0 && target % 4 == 0, "MSG-1: an unaligned offset or target");
        require(target + 4 <= size, "MSG-1: an offset that leads out of the message");
        return (int) target;
    }

    /**
     * Counts a part. If the parts together are larger than the message, two of them overlap. This also limits the work
     * on a message that leads to one part many times (MSG-14).
     */
    private void part(int at, long length) throws Fault {
        visited += length;
        require(visited <= size, "MSG-10: overlapping parts");
        parts.add(at, (int) length);
    }

    private void table(int at, TableShape shape) throws Fault {
        long vtable = (long) at - bytes.getInt(at);
        require(vtable >= 8 && vtable % 2 == 0 && vtable + 4 <= size, "MSG-3: a vtable out of place");
        int v = (int) vtable;
        int vtableSize = bytes.getShort(v) & 0xFFFF;
        int max = newerMinor ? MAX_VTABLE : 4 + 2 * shape.fields().size();
        require(vtableSize % 2 == 0 && vtableSize >= 4 && vtableSize <= max, "MSG-4: a vtable of a wrong size");
        require(v + vtableSize <= size, "MSG-4: a vtable that ends outside the message");
        int inline = bytes.getShort(v + 2) & 0xFFFF;
        require(inline >= 4 && (long) at + inline <= size, "MSG-5: a table that ends outside the message");
        part(at, inline);
        vtables.add(v, vtableSize);
        int[] positions = positions(shape, v, vtableSize);
        checkInline(shape, positions, at, inline);
        for (int i = 0; i < positions.length; i++) {
            if (positions[i] != 0) {
                child(shape.fields().get(i), at + positions[i]);
            }
        }
    }

    /** The position of each field in its table, 0 for a field that is absent. */
    private int[] positions(TableShape shape, int vtable, int vtableSize) throws Fault {
        int[] positions = new int[shape.fields().size()];
        for (int i = 0; i < positions.length; i++) {
            if (4 + 2 * i < vtableSize) {
                positions[i] = bytes.getShort(vtable + 4 + 2 * i) & 0xFFFF;
            }
            require(positions[i] != 0 || !shape.fields().get(i).required(), "MSG-7: no value for a required field");
        }
        return positions;
    }

    /** Checks MSG-6 and the second half of MSG-11. Each field is compared with each other one, since there are few. */
    private void checkInline(TableShape shape, int[] positions, int at, int inline) throws Fault {
        for (int i = 0; i < positions.length; i++) {
            int from = positions[i];
            if (from == 0) {
                continue;
            }
            int length = shape.fields().get(i).inlineSize();
            require(from >= 4 && from + length <= inline, "MSG-6: a field outside its table");
            require((at + from) % length == 0, "MSG-6: an unaligned field");
            for (int j = 0; j < i; j++) {
                int other = positions[j];
                require(other == 0 || other + shape.fields().get(j).inlineSize() <= from || from + length <= other,
                        "MSG-6: overlapping fields");
            }
        }
        if (!newerMinor) {
            checkUnusedInline(shape, positions, at, inline);
        }
    }

    private void checkUnusedInline(TableShape shape, int[] positions, int at, int inline) throws Fault {
        int next = 4;
        while (next < inline) {
            int field = -1;
            for (int i = 0; i < positions.length; i++) {
                if (positions[i] != 0 && positions[i] >= next && (field < 0 || positions[i] < positions[field])) {
                    field = i;
                }
            }
            int end = at + (field < 0 ? inline : positions[field]);
            requireZero(at + next, end, "MSG-11: unused bytes of a table that are not zero");
            next = field < 0 ? inline : positions[field] + shape.fields().get(field).inlineSize();
        }
    }

    private void child(TableShape.Field field, int at) throws Fault {
        switch (field.type()) {
            case SCALAR -> { }
            case VECTOR -> vector(follow(at), field, 0);
            case STRING -> string(follow(at), field);
            case TABLE -> table(follow(at), field.table());
            case TABLES -> {
                int vector = follow(at);
                int count = vector(vector, field, 0);
                for (int i = 0; i < count; i++) {
                    table(follow(vector + 4 + 4 * i), field.table());
                }
            }
        }
    }

    /** Checks a vector (MSG-8); returns the number of its elements. */
    private int vector(int at, TableShape.Field field, int following) throws Fault {
        long count = bytes.getInt(at) & 0xFFFFFFFFL;
        long length = 4 + count * field.size() + following;
        require(at + length <= size, "MSG-8: a vector that ends outside the message");
        require((at + 4) % field.align() == 0, "MSG-8: an unaligned vector");
        part(at, length);
        return (int) count;
    }

    /** Checks a string (MSG-9). */
    private void string(int at, TableShape.Field field) throws Fault {
        int end = at + 4 + vector(at, field, 1);
        require(bytes.get(end) == 0, "MSG-9: a string without a zero byte");
        require(Utf8Rule.isValid(bytes, at + 4, end), "MSG-9: text that is not UTF-8");
    }

    /** Checks MSG-10 and the first half of MSG-11: the parts cover the message, except for small gaps of zeros. */
    private void checkCover() throws Fault {
        vtables.sortAndMerge();
        parts.addAll(vtables);
        parts.sort();
        int next = 0;
        for (int i = 0; i < parts.count(); i++) {
            require(parts.start(i) >= next, "MSG-10: overlapping parts");
            checkGap(next, parts.start(i));
            next = parts.end(i);
        }
        checkGap(next, size);
    }

    /** With a newer minor version, a gap may be a part that this reader does not know. */
    private void checkGap(int from, int to) throws Fault {
        if (newerMinor) {
            return;
        }
        require(to - from <= MAX_GAP, "MSG-11: a gap of more than 7 bytes");
        requireZero(from, to, "MSG-11: a gap");
    }

    private void requireZero(int from, int to, String what) throws Fault {
        for (int i = from; i < to; i++) {
            require(bytes.get(i) == 0, what);
        }
    }

    private static void require(boolean holds, String fault) throws Fault {
        if (!holds) {
            throw new Fault(fault);
        }
    }
}
