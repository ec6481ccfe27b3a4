package dev.faro.internal.sortbuffer;

/**
 * Copies the runs of a sorted part, in the order of their targets, to several pieces of memory: as many to each as fit.
 * A run that does not fit is divided between records, or anywhere if they have no lengths.
 */
final class SegmentCopier {
    private final Segment from;
    /** The run that is copied next. */
    private int run;
    /** Where the rest of that run begins, if a part of it is copied; otherwise 0. */
    private int offset;

    /** @param from a sorted part, which does not change until all of it is copied */
    SegmentCopier(Segment from) {
        this.from = from;
    }

    /** Whether all runs are copied. */
    boolean isDone() {
        return run == from.runs();
    }

    /**
     * Copies the next runs, as many as fit.
     *
     * @return the copies, or null if not even one record fits
     */
    Segment copy(Memory to) {
        int first = run;
        int begin = offset == 0 ? from.start(first) : offset;
        int taken = 0;
        int bytes = 0;
        while (first + taken < from.runs()) {
            int start = taken == 0 ? begin : from.start(first + taken);
            int room = to.capacity() - bytes - from.entrySize() * (taken + 1);
            int whole = from.end(first + taken) - start;
            if (whole > room) {
                int part = part(start, room);
                if (part > 0) {
                    bytes += part;
                    taken++;
                    offset = start + part;
                }
                break;
            }
            bytes += whole;
            taken++;
            run = first + taken;
            offset = 0;
        }
        return taken == 0 ? null : copies(to, first, begin, taken, bytes);
    }

    /** The bytes of a run that fit, from a position on: whole records, if they have lengths. */
    private int part(int start, int room) {
        if (from.isBare()) {
            return Math.max(room, 0);
        }
        int at = start;
        while (at - start + from.size(at) <= room) {
            at += from.size(at);
        }
        return at - start;
    }

    /** Copies runs from {@code begin} on, of this many bytes in all: of the last one perhaps only the beginning. */
    private Segment copies(Memory to, int first, int begin, int taken, int bytes) {
        Segment copies = from.forCopies(to, bytes);
        int at = 0;
        for (int i = first; i < first + taken; i++) {
            int start = i == first ? begin : from.start(i);
            int size = Math.min(from.end(i) - start, bytes - at);
            if (!from.isMoved()) {
                from.memory().copy(start, to, at, size);
            }
            at += size;
            copies.addRun(to, from.target(i), at, from.hasCounts() ? records(i, start, start + size) : 0);
        }
        if (from.isMoved()) {
            // The runs are next to each other.
            from.memory().copy(begin, to, 0, bytes);
        }
        return copies;
    }

    /** The records of a part of a run. Those of a run without lengths count where it begins. */
    private int records(int of, int start, int end) {
        if (from.isBare()) {
            return start == from.start(of) ? from.records(of) : 0;
        }
        int records = 0;
        for (int at = start; at < end; at += from.size(at)) {
            records++;
        }
        return records;
    }
}
