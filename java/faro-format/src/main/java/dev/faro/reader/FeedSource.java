package dev.faro.reader;

import dev.faro.internal.block.ByteSource;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/**
 * Bytes that were brought, as a block reader wants them: each block in one piece. One that lies in several buffers is
 * put together in memory of its own. Who brings may be another thread than who takes.
 */
final class FeedSource implements ByteSource {
    private static final int LEAST = 4 << 10;

    private final Consumer<ByteBuffer> returns;
    private final ConcurrentLinkedQueue<Part> parts = new ConcurrentLinkedQueue<>();
    /** The part that is being taken, or null. */
    private Part part;
    /** A block that was put together, or the beginning of one: bytes from {@code joinedFrom} to before {@code joinedTo}. */
    private ByteBuffer joined = ByteBuffer.allocateDirect(0);
    private long joinedFrom;
    private long joinedTo;
    private ByteBuffer current = joined;

    /**
     * Bytes that were brought.
     *
     * @param given the buffer, to be given back
     * @param view of its bytes, of this source alone, since a checksum moves its position
     */
    private record Part(ByteBuffer given, ByteBuffer view, long from, long to) {}

    FeedSource(Consumer<ByteBuffer> returns) {
        this.returns = returns;
    }

    void add(ByteBuffer bytes, long offset) {
        parts.add(new Part(bytes, bytes.slice().order(ByteOrder.LITTLE_ENDIAN), offset, offset + bytes.remaining()));
    }

    /**
     * Has bytes in one piece.
     *
     * @return false if they were not brought yet; those that were are kept
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
                release();
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
            ByteBuffer larger = ByteBuffer.allocateDirect(Math.max(LEAST, count)).order(ByteOrder.LITTLE_ENDIAN);
            joined = larger.put(0, joined, 0, kept);
        }
        int length = (int) Math.min(count - kept, part.to - joinedTo);
        joined.put(kept, part.view, (int) (joinedTo - part.from), length);
        joinedTo += length;
    }

    /** Gives back what lies before an offset. */
    void releaseBefore(long at) {
        if (part != null && part.to <= at) {
            release();
        }
    }

    private void release() {
        if (part != null) {
            ByteBuffer given = part.given;
            // Before the call, which may fail: nothing is given back twice.
            part = null;
            returns.accept(given);
        }
    }

    /** Four of the bytes that were filled. */
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

    /** Gives everything back. */
    void close() {
        do {
            release();
            part = parts.poll();
        } while (part != null);
    }
}
