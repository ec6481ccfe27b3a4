package dev.faro.internal.message;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.internal.storage.InputFile;
import java.nio.ByteBuffer;

/**
 * Decides whether a message is structurally valid (MSG-1 to MSG-14, more leniently for a newer minor version:
 * VER-2), before any accessor of FlatBuffers touches it, in time and memory linear in its size, up to sorting.
 */
public final class Verifier {
    /** The largest vtable of a newer minor version (MSG-12). */
    static final int MOST_VTABLE = 132;
    private static final int MOST_GAP = 7;

    private final ByteBuffer bytes;
    private final int size;
    private final boolean newerMinor;
    private final Parts parts = new Parts();
    private final Parts vtables = new Parts();
    private long visited;

    /** What is wrong; carries no stack trace, since it never leaves this class. */
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
     * @param message little-endian, from 0 to its limit
     * @param newerMinor whether the file's minor version is above this reader's (MSG-12)
     * @param offset of the message's first byte in the file
     * @throws FaroException {@code malformed-message} at that offset (MSG-13)
     */
    public static void check(ByteBuffer message, MessageKind kind, boolean newerMinor, InputFile file, long offset)
            throws FaroException {
        String fault = fault(message, kind, newerMinor);
        if (fault != null) {
            throw file.fault(ErrorCode.MALFORMED_MESSAGE, offset, "a valid message " + kind.identifier(), fault);
        }
    }

    /** What is wrong with a message, or null. */
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

    /** MSG-1: where the uoffset at a position leads. */
    private int follow(int at) throws Fault {
        long distance = bytes.getInt(at) & 0xFFFFFFFFL;
        long target = at + distance;
        require(distance >= 4, "MSG-1: an offset below 4");
        require(at % 4 == 0 && target % 4 == 0, "MSG-1: an offset that is not aligned");
        require(target + 4 <= size, "MSG-1: an offset out of the message");
        return (int) target;
    }

    /**
     * Adds a part; the sizes of all of them together cannot exceed the message's, or two overlap. This also bounds the
     * work on a message that leads to one part many times (MSG-14).
     */
    private void part(int at, long length) throws Fault {
        visited += length;
        require(visited <= size, "MSG-10: parts overlap");
        parts.add(at, (int) length);
    }

    private void table(int at, TableShape shape) throws Fault {
        long vtable = (long) at - bytes.getInt(at);
        require(vtable >= 8 && vtable % 2 == 0 && vtable + 4 <= size, "MSG-3: a vtable out of place");
        int v = (int) vtable;
        int vtableSize = bytes.getShort(v) & 0xFFFF;
        int most = newerMinor ? MOST_VTABLE : 4 + 2 * shape.fields().size();
        require(vtableSize % 2 == 0 && vtableSize >= 4 && vtableSize <= most, "MSG-4: a vtable of another size");
        require(v + vtableSize <= size, "MSG-4: a vtable out of the message");
        int inline = bytes.getShort(v + 2) & 0xFFFF;
        require(inline >= 4 && (long) at + inline <= size, "MSG-5: a table out of the message");
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

    /** The offset of each field from its table's start, 0 for those that are absent. */
    private int[] positions(TableShape shape, int vtable, int vtableSize) throws Fault {
        int[] positions = new int[shape.fields().size()];
        for (int i = 0; i < positions.length; i++) {
            if (4 + 2 * i < vtableSize) {
                positions[i] = bytes.getShort(vtable + 4 + 2 * i) & 0xFFFF;
            }
            require(positions[i] != 0 || !shape.fields().get(i).required(), "MSG-7: a required field is absent");
        }
        return positions;
    }

    /** MSG-6, and the second half of MSG-11. Few fields, so each is held against each. */
    private void checkInline(TableShape shape, int[] positions, int at, int inline) throws Fault {
        for (int i = 0; i < positions.length; i++) {
            int from = positions[i];
            if (from == 0) {
                continue;
            }
            int length = shape.fields().get(i).inlineSize();
            require(from >= 4 && from + length <= inline, "MSG-6: a field out of its table");
            require((at + from) % length == 0, "MSG-6: a field that is not aligned");
            for (int j = 0; j < i; j++) {
                int other = positions[j];
                require(other == 0 || other + shape.fields().get(j).inlineSize() <= from || from + length <= other,
                        "MSG-6: fields overlap");
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
            requireZero(at + next, at + (field < 0 ? inline : positions[field]), "MSG-11: a table's unused bytes");
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

    /** MSG-8: the count of a vector's elements. */
    private int vector(int at, TableShape.Field field, int behind) throws Fault {
        long count = bytes.getInt(at) & 0xFFFFFFFFL;
        long length = 4 + count * field.size() + behind;
        require(at + length <= size, "MSG-8: a vector out of the message");
        require((at + 4) % field.align() == 0, "MSG-8: a vector that is not aligned");
        part(at, length);
        return (int) count;
    }

    /** MSG-9. */
    private void string(int at, TableShape.Field field) throws Fault {
        int end = at + 4 + vector(at, field, 1);
        require(bytes.get(end) == 0, "MSG-9: a string without a zero byte");
        require(Utf8.isValid(bytes, at + 4, end), "MSG-9: text that is not UTF-8");
    }

    /** MSG-10 and the first half of MSG-11: the parts cover the message, but for small gaps of zeros. */
    private void checkCover() throws Fault {
        vtables.sortAndMerge();
        parts.addAll(vtables);
        parts.sort();
        int next = 0;
        for (int i = 0; i < parts.count(); i++) {
            require(parts.start(i) >= next, "MSG-10: parts overlap");
            checkGap(next, parts.start(i));
            next = parts.end(i);
        }
        checkGap(next, size);
    }

    /** In a newer minor version a gap may be a part that this reader does not know. */
    private void checkGap(int from, int to) throws Fault {
        if (newerMinor) {
            return;
        }
        require(to - from <= MOST_GAP, "MSG-11: a gap of more than 7 bytes");
        requireZero(from, to, "MSG-11: a gap");
    }

    private void requireZero(int from, int to, String what) throws Fault {
        for (int i = from; i < to; i++) {
            require(bytes.get(i) == 0, what + " must be zero");
        }
    }

    private static void require(boolean holds, String fault) throws Fault {
        if (!holds) {
            throw new Fault(fault);
        }
    }
}
