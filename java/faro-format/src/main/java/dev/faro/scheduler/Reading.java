package dev.faro.scheduler;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.file.InputFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Makes reads: the bytes of each request into buffers of its own, so that one that is slow to be taken keeps no other's,
 * nor those of gaps. Several threads may read; what was counted is guarded by the scheduler's lock.
 */
final class Reading {
    /** Bytes whose copying takes longer than a call of their own. */
    private static final int WORTH_A_CALL = 32 << 10;

    private final Buffers buffers;
    private final int readBytes;
    /** Memory for reads that serve several requests, one for each thread that reads at the same time. */
    private final ConcurrentLinkedQueue<ByteBuffer> scratch = new ConcurrentLinkedQueue<>();
    private long reads;
    private long bytes;
    private long gapBytes;
    private long requests;
    private long seekBytes;

    /**
     * What a read brought.
     *
     * @param served requests that there were buffers for, the first ones
     * @param pieces of each of them
     * @param faults of each of them; null: none at all
     */
    record Result(int served, List<List<ByteBuffer>> pieces, FaroException[] faults) {
        FaroException fault(int request) {
            return faults == null ? null : faults[request];
        }
    }

    Reading(SchedulerOptions options, Buffers buffers) {
        this.buffers = buffers;
        this.readBytes = options.readBytes();
    }

    /**
     * Reads what there are buffers for.
     *
     * @throws FaroException {@code io} if the thread was interrupted, and for no other reason
     */
    Result read(InputFile file, Sweep.Read<Consumer> read) throws FaroException {
        List<List<ByteBuffer>> pieces = new ArrayList<>();
        boolean done = false;
        try {
            for (Sweep.Request<Consumer> request : read.requests()) {
                List<ByteBuffer> its = take(request.bytes());
                if (its == null) {
                    break;
                }
                pieces.add(its);
            }
            FaroException[] faults = pieces.isEmpty() ? null : fill(file, read.requests().subList(0, pieces.size()), pieces);
            done = true;
            return new Result(pieces.size(), pieces, faults);
        } finally {
            if (!done) {
                pieces.forEach(its -> its.forEach(buffers::giveBack));
            }
        }
    }

    /** Buffers for a request, limited to its bytes; null if there are not enough. */
    private List<ByteBuffer> take(long wanted) {
        List<ByteBuffer> pieces = new ArrayList<>(1);
        long left = wanted;
        while (left > 0) {
            ByteBuffer buffer = buffers.take((int) Math.min(left, Integer.MAX_VALUE));
            if (buffer == null) {
                pieces.forEach(buffers::giveBack);
                return null;
            }
            buffer.clear().limit((int) Math.min(left, buffer.capacity()));
            left -= buffer.limit();
            pieces.add(buffer);
        }
        return pieces;
    }

    private FaroException[] fill(
            InputFile file, List<Sweep.Request<Consumer>> served, List<List<ByteBuffer>> pieces) throws FaroException {
        try {
            long asked = 0;
            for (Sweep.Request<Consumer> request : served) {
                asked += request.bytes();
            }
            if (asked / served.size() >= WORTH_A_CALL) {
                // One behind the other, still in the order of the file.
                for (int i = 0; i < served.size(); i++) {
                    fillOne(file, served.get(i), pieces.get(i));
                }
            } else {
                fillAll(file, served, pieces);
            }
            return null;
        } catch (FaroException e) {
            if (Consumer.isInterrupt(e)) {
                throw e;
            }
            FaroException[] faults = new FaroException[served.size()];
            if (e.code() == ErrorCode.TRUNCATED && served.size() > 1) {
                // Not all of them need to miss something.
                for (int i = 0; i < faults.length; i++) {
                    faults[i] = faultOf(file, served.get(i), pieces.get(i));
                }
            } else {
                Arrays.fill(faults, e);
            }
            return faults;
        }
    }

    private static FaroException faultOf(InputFile file, Sweep.Request<Consumer> request, List<ByteBuffer> pieces)
            throws FaroException {
        try {
            fillOne(file, request, pieces);
            return null;
        } catch (FaroException e) {
            if (Consumer.isInterrupt(e)) {
                throw e;
            }
            return e;
        }
    }

    private static void fillOne(InputFile file, Sweep.Request<Consumer> request, List<ByteBuffer> pieces)
            throws FaroException {
        long at = request.start();
        for (ByteBuffer piece : pieces) {
            file.readFully(piece.duplicate(), at);
            at += piece.remaining();
        }
    }

    private void fillAll(InputFile file, List<Sweep.Request<Consumer>> served, List<List<ByteBuffer>> pieces)
            throws FaroException {
        long start = served.get(0).start();
        long end = start;
        for (Sweep.Request<Consumer> request : served) {
            end = Math.max(end, request.end());
        }
        int length = (int) (end - start);
        ByteBuffer all = scratch.poll();
        if (all == null || all.capacity() < length) {
            all = ByteBuffer.allocateDirect(Math.max(length, Math.min(readBytes, 2 * length)));
        }
        try {
            file.readFully(all.clear().limit(length), start);
            for (int i = 0; i < pieces.size(); i++) {
                int from = (int) (served.get(i).start() - start);
                for (ByteBuffer piece : pieces.get(i)) {
                    piece.put(0, all.clear(), from, piece.remaining());
                    from += piece.remaining();
                }
            }
        } finally {
            scratch.add(all);
        }
    }

    /** Counts a read that was made. */
    void count(FileSweep file, Sweep.Read<Consumer> read, Result result) {
        List<Sweep.Request<Consumer>> served = read.requests().subList(0, result.served());
        long end = read.start();
        long asked = 0;
        for (Sweep.Request<Consumer> request : served) {
            // Bytes that two want count once.
            asked += Math.max(0, request.end() - Math.max(end, request.start()));
            end = Math.max(end, request.end());
        }
        reads++;
        bytes += end - read.start();
        gapBytes += end - read.start() - asked;
        requests += served.size();
        seekBytes += Math.abs(read.start() - file.position);
        file.position = end;
    }

    Scheduler.Statistics statistics(long mostHeld) {
        return new Scheduler.Statistics(reads, bytes, gapBytes, requests, seekBytes, mostHeld);
    }
}
