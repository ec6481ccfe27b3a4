package dev.faro.plan;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * The requests for one file. They are served in ascending offset from the end of the last read to the end of the file,
 * then again from its beginning; adjacent requests share a read. So a request waits for at most one sweep over the
 * other requests, whatever is added meanwhile. Only planning: no threads and no files.
 *
 * @param <T> the type of the owner of a request
 */
public final class Sweep<T> {
    private final TreeSet<Request<T>> requests = new TreeSet<>(
            Comparator.comparingLong((Request<T> r) -> r.start).thenComparingLong(r -> r.number));
    private final long gapBytes;
    private final long readBytes;
    private long position;
    private long count;

    /** A request for bytes of the file. */
    public static final class Request<T> {
        private final T owner;
        private final long start;
        private final long end;
        private final long number;

        private Request(T owner, long start, long end, long number) {
            this.owner = owner;
            this.start = start;
            this.end = end;
            this.number = number;
        }

        /** The owner of the request. */
        public T owner() {
            return owner;
        }

        /** The offset of the first byte. */
        public long start() {
            return start;
        }

        /** The offset after the last byte. */
        public long end() {
            return end;
        }

        /** The number of bytes. */
        public long bytes() {
            return end - start;
        }
    }

    /**
     * One read, and the requests that it serves.
     *
     * @param start the offset of the first byte
     * @param end the offset after the last byte
     * @param requests in ascending offset
     */
    public record Read<T>(long start, long end, List<Request<T>> requests) {}

    /**
     * Makes an empty sweep over a file.
     *
     * @param gapBytes the largest gap inside a read
     * @param readBytes a read grows by another request only up to this length; a longer request is read as a whole
     */
    public Sweep(long gapBytes, long readBytes) {
        this.gapBytes = gapBytes;
        this.readBytes = readBytes;
    }

    /** Adds a request for the bytes in [start, end). */
    public Request<T> add(T owner, long start, long end) {
        Request<T> request = new Request<>(owner, start, end, count++);
        requests.add(request);
        return request;
    }

    /** Puts back a request that was taken for a read that did not happen. */
    public void putBack(Request<T> request) {
        requests.add(request);
    }

    /** Removes a request. */
    public void remove(Request<T> request) {
        requests.remove(request);
    }

    /** Whether there are no requests. */
    public boolean isEmpty() {
        return requests.isEmpty();
    }

    /** The next request, or null. */
    public Request<T> first() {
        if (requests.isEmpty()) {
            return null;
        }
        Request<T> ahead = requests.ceiling(new Request<>(null, position, position, Long.MIN_VALUE));
        return ahead == null ? requests.first() : ahead;
    }

    /** The next request with an owner that passes a test, or null. */
    public Request<T> first(Predicate<T> test) {
        Request<T> first = first();
        if (first == null) {
            return null;
        }
        return Stream.concat(requests.tailSet(first, true).stream(), requests.headSet(first, false).stream())
                .filter(request -> test.test(request.owner))
                .findFirst()
                .orElse(null);
    }

    /**
     * Takes out a request, and makes its first bytes the next read. The caller has to add the rest again.
     *
     * @param bytes the length of the read; at most the whole request is read
     */
    public Read<T> beginning(Request<T> request, long bytes) {
        requests.remove(request);
        Request<T> part = new Request<>(request.owner, request.start, Math.min(request.end, request.start + bytes),
                request.number);
        position = part.end;
        return new Read<>(part.start, part.end, List.of(part));
    }

    /**
     * Takes out the requests of the next read.
     *
     * @param room the maximum size of the requests together in bytes; the first one is always served
     * @return null if there are no requests
     */
    public Read<T> next(long room) {
        return next(room, Request::bytes);
    }

    /**
     * Takes out the requests of the next read, if they do not take as much room as they have bytes.
     *
     * @param room as for {@link #next(long)}
     * @param cost the room that a request takes
     * @return null if there are no requests
     */
    public Read<T> next(long room, ToLongFunction<Request<T>> cost) {
        Request<T> first = first();
        if (first == null) {
            return null;
        }
        List<Request<T>> chosen = new ArrayList<>();
        long end = first.start;
        long left = room;
        Iterator<Request<T>> following = requests.tailSet(first, true).iterator();
        while (following.hasNext()) {
            Request<T> request = following.next();
            long longer = Math.max(end, request.end);
            boolean joins = request.start - end <= gapBytes && (longer == end || longer - first.start <= readBytes)
                    && cost.applyAsLong(request) <= left;
            if (!chosen.isEmpty() && !joins) {
                // A request may begin inside this read; the next sweep must not skip it.
                position = Math.min(end, request.start);
                return new Read<>(first.start, end, chosen);
            }
            chosen.add(request);
            following.remove();
            left -= cost.applyAsLong(request);
            end = longer;
        }
        position = end;
        return new Read<>(first.start, end, chosen);
    }
}
