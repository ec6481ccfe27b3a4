package dev.faro.scheduler;

import dev.faro.Buffers;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.MemoryBudget;
import dev.faro.internal.storage.InputFile;
import dev.faro.plan.Sweep;
import dev.faro.storage.RangeRead;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads files. Each request gets buffers for its own bytes, so that a request that is taken late does not keep the
 * bytes of other requests or of gaps. Several threads may read. The scheduler's lock guards the counters.
 */
final class FileReads {
    /** A request of this size or more, in bytes, takes longer to copy than a separate system call takes. */
    private static final int WORTH_A_CALL = 32 << 10;

    private final Buffers buffers;
    private final Landing landing;
    private long reads;
    private long bytes;
    private long gapBytes;
    private long requests;
    private long seekBytes;

    /**
     * The result of a read.
     *
     * @param served the number of requests, from the first on, that got buffers or a fault
     * @param read the number of these that were read
     * @param pieces the buffers of each served request
     * @param faults the fault of each request, or null
     */
    record Result(int served, int read, List<List<ByteBuffer>> pieces, FaroException[] faults) {}

    /** @param budget is asked for the memory of reads for several requests; may be null */
    FileReads(SchedulerOptions options, Buffers buffers, MemoryBudget budget) {
        this.buffers = buffers;
        this.landing = new Landing(options.readBytes(), budget);
    }

    /**
     * Reads as many requests as there are buffers for.
     *
     * @param failures receives failures of something else than the file; each is also the fault of the request that it
     *     affects
     * @throws FaroException {@code io} if the thread was interrupted, and for no other reason
     */
    Result read(InputFile file, Sweep.Read<Account> read, Failures failures) throws FaroException {
        List<Sweep.Request<Account>> requests = read.requests();
        List<List<ByteBuffer>> pieces = new ArrayList<>();
        FaroException[] faults = new FaroException[requests.size()];
        boolean done = false;
        try {
            int ready = takeAll(file, requests, pieces, faults, failures);
            if (ready > 0) {
                fill(file, requests.subList(0, ready), pieces, faults, failures);
            }
            done = true;
            return new Result(pieces.size(), ready, pieces, faults);
        } finally {
            if (!done) {
                pieces.forEach(buffersOfOne -> giveBack(buffersOfOne, buffers, failures));
            }
        }
    }

    /**
     * Takes buffers for requests, from the first on, as long as there are some. A request is the last one if taking
     * buffers for it fails; it gets a fault.
     */
    private int takeAll(InputFile file, List<Sweep.Request<Account>> requests, List<List<ByteBuffer>> pieces,
            FaroException[] faults, Failures failures) {
        for (int i = 0; i < requests.size(); i++) {
            try {
                List<ByteBuffer> buffersOfOne = take(requests.get(i).bytes(), failures);
                // The engine may have the memory of the landings from the same account.
                if (buffersOfOne == null && landing.release() > 0) {
                    buffersOfOne = take(requests.get(i).bytes(), failures);
                }
                if (buffersOfOne == null) {
                    return i;
                }
                pieces.add(buffersOfOne);
            } catch (Throwable e) {
                failures.add(e);
                faults[i] = Failures.ofReading(file, "memory to read into", e);
                pieces.add(List.of());
                return i;
            }
        }
        return requests.size();
    }

    /** Takes buffers for a request, limited to its size; null if there are not enough. */
    private List<ByteBuffer> take(long wanted, Failures failures) {
        List<ByteBuffer> pieces = new ArrayList<>(1);
        long left = wanted;
        try {
            while (left > 0) {
                ByteBuffer buffer = buffers.take((int) Math.min(left, Integer.MAX_VALUE));
                if (buffer == null) {
                    break;
                }
                pieces.add(buffer);
                if (buffer.capacity() == 0 || !buffer.isDirect() || buffer.isReadOnly()) {
                    throw new IllegalStateException(
                            "the pool returned a buffer that is empty, read-only or not direct: " + buffer);
                }
                buffer.clear().limit((int) Math.min(left, buffer.capacity()));
                left -= buffer.limit();
            }
            return left > 0 ? null : pieces;
        } finally {
            if (left > 0) {
                giveBack(pieces, buffers, failures);
            }
        }
    }

    /** Gives all buffers back, even if giving one back fails. */
    static void giveBack(List<ByteBuffer> pieces, Buffers buffers, Failures failures) {
        for (ByteBuffer piece : pieces) {
            try {
                buffers.giveBack(piece);
            } catch (Throwable e) {
                failures.add(e);
            }
        }
    }

    private void fill(InputFile file, List<Sweep.Request<Account>> ready, List<List<ByteBuffer>> pieces,
            FaroException[] faults, Failures failures) throws FaroException {
        try {
            long requested = 0;
            for (Sweep.Request<Account> request : ready) {
                requested += request.bytes();
            }
            if (requested / ready.size() >= WORTH_A_CALL || !fillAll(file, ready, pieces, failures)) {
                // One by one, still in the order of the file.
                List<RangeRead> ranges = new ArrayList<>();
                for (int i = 0; i < ready.size(); i++) {
                    addRanges(ranges, ready.get(i), pieces.get(i));
                }
                file.readRanges(ranges);
            }
        } catch (FaroException e) {
            if (Failures.isInterrupt(e)) {
                throw e;
            }
            if (e.code() == ErrorCode.TRUNCATED && ready.size() > 1) {
                // Some of the requests may be complete.
                for (int i = 0; i < ready.size(); i++) {
                    faults[i] = faultOf(file, ready.get(i), pieces.get(i), failures);
                }
            } else {
                Arrays.fill(faults, 0, ready.size(), e);
            }
        } catch (Throwable e) {
            failures.add(e);
            Arrays.fill(faults, 0, ready.size(), Failures.ofReading(file, "bytes", e));
        }
    }

    private static FaroException faultOf(InputFile file, Sweep.Request<Account> request, List<ByteBuffer> pieces,
            Failures failures) throws FaroException {
        try {
            List<RangeRead> ranges = new ArrayList<>();
            addRanges(ranges, request, pieces);
            file.readRanges(ranges);
            return null;
        } catch (FaroException e) {
            if (Failures.isInterrupt(e)) {
                throw e;
            }
            return e;
        } catch (Throwable e) {
            failures.add(e);
            return Failures.ofReading(file, "bytes", e);
        }
    }

    private static void addRanges(
            List<RangeRead> ranges, Sweep.Request<Account> request, List<ByteBuffer> pieces) {
        long at = request.start();
        for (ByteBuffer piece : pieces) {
            ranges.add(new RangeRead(at, piece.duplicate()));
            at += piece.remaining();
        }
    }

    /** Fills the buffers of all requests with one read; false if the memory for it was refused. */
    private boolean fillAll(InputFile file, List<Sweep.Request<Account>> served, List<List<ByteBuffer>> pieces,
            Failures failures) throws FaroException {
        long start = served.get(0).start();
        long end = start;
        for (Sweep.Request<Account> request : served) {
            end = Math.max(end, request.end());
        }
        int length = (int) (end - start);
        ByteBuffer all = null;
        try {
            all = landing.take(length);
        } catch (Throwable e) {
            // Without this memory the requests can be read one by one.
            failures.add(e);
        }
        if (all == null) {
            return false;
        }
        try {
            file.readFully(all.clear().limit(length), start);
            for (int i = 0; i < served.size(); i++) {
                int from = (int) (served.get(i).start() - start);
                for (ByteBuffer piece : pieces.get(i)) {
                    piece.put(0, all.clear(), from, piece.remaining());
                    from += piece.remaining();
                }
            }
        } finally {
            landing.giveBack(all);
        }
        return true;
    }

    /** Gives an engine back what is not in use. */
    long release() {
        return landing.release();
    }

    /** Counts a read of the first {@code count} requests. */
    void count(FileSweep<Account> file, Sweep.Read<Account> read, int count) {
        List<Sweep.Request<Account>> served = read.requests().subList(0, count);
        long end = read.start();
        long requested = 0;
        for (Sweep.Request<Account> request : served) {
            // Bytes that several requests share count once.
            requested += Math.max(0, request.end() - Math.max(end, request.start()));
            end = Math.max(end, request.end());
        }
        reads++;
        bytes += end - read.start();
        gapBytes += end - read.start() - requested;
        requests += served.size();
        seekBytes += Math.abs(read.start() - file.position);
        file.position = end;
    }

    SchedulerFigures figures(long held, long mostHeld, long waits, long memoryRefusals) {
        return new SchedulerFigures(
                reads, bytes, gapBytes, requests, seekBytes, held, mostHeld, waits, memoryRefusals);
    }
}
