package dev.faro.reader;

import dev.faro.internal.block.ByteSource;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/**
 * Supplies a block reader with bytes that were brought, each block in one piece. A block that is spread over several
 * buffers is copied into separate memory. The thread that brings may be another one than the thread that takes.
 */
final class FeedSource implements ByteSource {
    private static final int MIN_CAPACITY = 4 << 10;

    private final Consumer<ByteBuffer> returns;
    private final ConcurrentLinkedQueue<Part> parts = new ConcurrentLinkedQueue<>();
    /** The current part, or null. */
    private Part part;
    /** A block that was joined, or its beginning: the bytes in [joinedFrom, joinedTo). */
    private ByteBuffer joined = ByteBuffer.allocateDirect(0);
    private long joinedFrom;
    private long joinedTo;
    private ByteBuffer current = joined;

    /**
     * Bytes that were brought.
     *
     * @param original the buffer to give back, or null
     * @param view a view of the bytes for this source only, because a checksum moves its position
     */
    private record Part(ByteBuffer original, ByteBuffer view, long from, long to) {}

    FeedSource(Consumer<ByteBuffer> returns) {
        this.returns = returns;
    }

    void add(ByteBuffer bytes, long offset) {
        add(bytes, bytes, offset);
    }

    /** Adds bytes that are not given back. */
    void addOwn(ByteBuffer bytes, long offset) {
        add(null, bytes, offset);
    }

    private void add(ByteBuffer original, ByteBuffer bytes, long offset) {
        parts.add(new Part(original, bytes.slice().order(ByteOrder.LITTLE_ENDIAN), offset, offset + bytes.remaining()));
    }

    /**
     * Makes bytes available in one piece.
     *
     * @return false if not all of them were brought yet; those that were are kept
     */
    boolean fill(long at, int count) {
        if (part != null && at >= part.from && at + count <= part.to) {
            return true;
        }
        if (at != joinedFrom) {
            joinedFrom = at;
            joinedTo = at;
        }
        while (joinedTo - joinedFrom < count) {
            if (part == null || joinedTo >= part.to || joinedTo < part.from) {
                releasePart();
                part = parts.poll();
                if (part == null) {
                    return false;
                }
                if (joinedTo == at && at + count <= part.to) {
                    return true;
                }
            }
            join(count);
        }
        return true;
    }

    private void join(int count) {
        int kept = (int) (joinedTo - joinedFrom);
        if (joined.capacity() < count) {
            ByteBuffer larger = ByteBuffer.allocateDirect(Math.max(MIN_CAPACITY, count)).order(ByteOrder.LITTLE_ENDIAN);
            joined = larger.put(0, joined, 0, kept);
        }
        int length = (int) Math.min(count - kept, part.to - joinedTo);
        joined.put(kept, part.view, (int) (joinedTo - part.from), length);
        joinedTo += length;
    }

    /** Gives back the parts that end before an offset. */
    void releaseBefore(long at) {
        if (part != null && part.to <= at) {
            releasePart();
        }
    }

    private void releasePart() {
        if (part != null) {
            ByteBuffer original = part.original;
            // Cleared before the call, which may fail, so that nothing is given back twice.
            part = null;
            if (original != null) {
                returns.accept(original);
            }
        }
    }

    /** Four bytes that were filled, as a number. */
    long u32(long at) {
        int index = ensure(at, 4, at);
        return current.getInt(index) & 0xFFFFFFFFL;
    }

    @Override
    public ByteBuffer buffer() {
        return current;
    }

    @Override
    public int ensure(long offset, int count, long aheadEnd) {
        if (part != null && offset >= part.from && offset + count <= part.to) {
            current = part.view;
            return (int) (offset - part.from);
        }
        if (offset < joinedFrom || offset + count > joinedTo) {
            throw new IllegalStateException("bytes that were not brought");
        }
        current = joined;
        return (int) (offset - joinedFrom);
    }

    @Override
    public void clear() {}

    /** What was brought is the caller's: {@link #close} gives it back. */
    @Override
    public void release() {}

    /** Gives everything back. */
    void close() {
        do {
            releasePart();
            part = parts.poll();
        } while (part != null);
    }
}
