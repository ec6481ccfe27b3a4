package dev.faro.plan;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The requests of one file, served in ascending offset from where the last read ended to the end of the file, then again
 * from its beginning; neighbours as one read. Pure planning, without threads and files. So a request waits for no more
 * than one sweep over what is asked for, whatever others ask meanwhile.
 *
 * @param <T> whose requests these are
 */
public final class Sweep<T> {
    private final TreeSet<Request<T>> requests = new TreeSet<>(
            Comparator.comparingLong((Request<T> r) -> r.start).thenComparingLong(r -> r.number));
    private final long gapBytes;
    private final long readBytes;
    private long position;
    private long count;

    /** Bytes of a file that somebody needs. */
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

        /** Whose request it is. */
        public T owner() {
            return owner;
        }

        /** Where it begins in the file. */
        public long start() {
            return start;
        }

        /** Where it ends. */
        public long end() {
            return end;
        }

        /** Its bytes. */
        public long bytes() {
            return end - start;
        }
    }

    /**
     * One read, and whom it serves.
     *
     * @param start where it begins in the file
     * @param end where it ends
     * @param requests in ascending offset
     */
    public record Read<T>(long start, long end, List<Request<T>> requests) {}

    /**
     * Requests of one file, of which there are none yet.
     *
     * @param gapBytes the largest gap that is read over
     * @param readBytes the length beyond which reads are not made longer; a longer request is read as a whole
     */
    public Sweep(long gapBytes, long readBytes) {
        this.gapBytes = gapBytes;
        this.readBytes = readBytes;
    }

    /** Asks for bytes. */
    public Request<T> add(T owner, long start, long end) {
        Request<T> request = new Request<>(owner, start, end, count++);
        requests.add(request);
        return request;
    }

    /** Puts a request back that a read took, which was not done. */
    public void putBack(Request<T> request) {
        requests.add(request);
    }

    /** Takes a request back. */
    public void remove(Request<T> request) {
        requests.remove(request);
    }

    /** Whether nothing is asked for. */
    public boolean isEmpty() {
        return requests.isEmpty();
    }

    /** The request that is served next, or null. */
    public Request<T> first() {
        if (requests.isEmpty()) {
            return null;
        }
        Request<T> here = requests.ceiling(new Request<>(null, position, position, Long.MIN_VALUE));
        return here == null ? requests.first() : here;
    }

    /** The request that is served next of those whose owner passes a test, or null. */
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
     * Chooses the beginning of a request as the next read, and takes the request out; its rest has to be asked for anew.
     *
     * @param bytes of it; the whole request if it has no more
     */
    public Read<T> beginning(Request<T> request, long bytes) {
        requests.remove(request);
        Request<T> part = new Request<>(request.owner, request.start, Math.min(request.end, request.start + bytes),
                request.number);
        position = part.end;
        return new Read<>(part.start, part.end, List.of(part));
    }

    /**
     * Chooses the next read and takes its requests out.
     *
     * @param room bytes of its requests together at most; the first one is served whatever it is
     * @return null if nothing is asked for
     */
    public Read<T> next(long room) {
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
                    && request.bytes() <= left;
            if (!chosen.isEmpty() && !joins) {
                // It may begin within this read: it is not passed over.
                position = Math.min(end, request.start);
                return new Read<>(first.start, end, chosen);
            }
            chosen.add(request);
            following.remove();
            left -= request.bytes();
            end = longer;
        }
        position = end;
        return new Read<>(first.start, end, chosen);
    }
}
