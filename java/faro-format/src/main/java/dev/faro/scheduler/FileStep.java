package dev.faro.scheduler;

import dev.faro.Buffers;
import dev.faro.FaroException;
import dev.faro.plan.Sweep;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * One step for one file: plans, reads once, and delivers. A failure ends only the readings that it affects. If it is
 * not a {@link FaroException}, it is also thrown at the end of the step.
 */
final class FileStep {
    private final Ledger ledger;
    private final FileReads reads;
    private final Buffers buffers;
    private final FileSweep<Account> file;
    private final Failures failures = new Failures();
    private final List<ByteBuffer> dropped = new ArrayList<>();
    private boolean madeRoom;
    private boolean grew;

    FileStep(Ledger ledger, FileReads reads, Buffers buffers, FileSweep<Account> file) {
        this.ledger = ledger;
        this.reads = reads;
        this.buffers = buffers;
        this.file = file;
    }

    /** The failures to throw when the file may be served again. */
    Failures failures() {
        return failures;
    }

    /** Whether this step freed reserved bytes that others may use. */
    boolean madeRoom() {
        return madeRoom;
    }

    /** Whether the engine granted more memory. */
    boolean grew() {
        return grew;
    }

    /**
     * Makes the step.
     *
     * @return whether there is more to do
     * @throws FaroException {@code io} if the thread was interrupted, which ends no reading
     */
    boolean run() throws FaroException {
        long wakesBefore;
        List<Account> planned;
        synchronized (ledger) {
            planned = new ArrayList<>(file.hungry);
            file.hungry.clear();
            wakesBefore = ledger.wakes;
        }
        plan(planned);
        ask();
        Sweep.Read<Account> read = ledger.choose(file);
        if (read == null) {
            return false;
        }
        FileReads.Result result = null;
        try {
            result = reads.read(file.file, read, failures);
        } finally {
            if (result == null) {
                ledger.putBack(file, read.requests());
            }
        }
        return handOut(read, result, wakesBefore);
    }

    /** Asks the engine for the memory of what was planned, once; without the lock. */
    private void ask() {
        if (!ledger.grants.asks()) {
            return;
        }
        long bytes;
        synchronized (ledger) {
            bytes = ledger.grants.ask();
        }
        if (bytes > 0) {
            try {
                grew = ledger.grants.budget().tryGrow(bytes);
            } catch (Throwable e) {
                failures.add(e);
            }
            synchronized (ledger) {
                ledger.grants.answered(bytes, grew);
            }
        }
    }

    /** Plans the next requests of consumers with room; may read region messages. */
    private void plan(List<Account> hungry) throws FaroException {
        List<Account> ended = new ArrayList<>();
        try {
            for (int i = 0; i < hungry.size(); i++) {
                try {
                    if (!plan(hungry.get(i))) {
                        ended.add(hungry.get(i));
                    }
                } catch (FaroException interrupt) {
                    synchronized (ledger) {
                        file.hungry.addAll(hungry.subList(i, hungry.size()));
                    }
                    throw interrupt;
                }
            }
        } finally {
            tell(ended, failures);
        }
    }

    /** Plans the next request of one consumer, if it wants something now. Returns false if its plan has ended. */
    private boolean plan(Account consumer) throws FaroException {
        FaroException fault = null;
        boolean wanted = false;
        long growthsBefore;
        synchronized (ledger) {
            growthsBefore = file.growths;
        }
        try {
            wanted = consumer.feed.want(ledger.mostOf(consumer));
        } catch (FaroException e) {
            if (Failures.isInterrupt(e)) {
                throw e;
            }
            fault = e;
        } catch (Throwable e) {
            failures.add(e);
            fault = Failures.ofReading(file.file, "a plan of what is to be read", e);
        }
        synchronized (ledger) {
            if (consumer.closed || consumer.planEnded) {
                return false;
            }
            if (wanted) {
                ledger.setRequest(consumer,
                        file.sweep.add(consumer, consumer.feed.wantedFrom(), consumer.feed.wantedTo()));
                return true;
            }
            if (fault == null && !consumer.feed.isPlanned()) {
                ledger.rest(consumer, file.growths != growthsBefore);
                return true;
            }
            ledger.end(consumer, fault);
        }
        return false;
    }

    private boolean handOut(Sweep.Read<Account> read, FileReads.Result result, long wakesBefore) {
        List<Sweep.Request<Account>> requests = read.requests();
        int served = result.served();
        boolean more = true;
        synchronized (ledger) {
            for (int i = 0; i < served; i++) {
                handOut(requests.get(i), result.pieces().get(i), result.faults()[i]);
            }
            if (result.read() > 0) {
                reads.count(file, read, result.read());
            }
            if (served < requests.size()) {
                ledger.putBack(file, requests.subList(served, requests.size()));
                if (ledger.wakes == wakesBefore) {
                    ledger.starve(file);
                    more = served > 0;
                }
            }
        }
        FileReads.giveBack(dropped, buffers, failures);
        tell(requests.subList(0, served).stream().map(Sweep.Request::owner).toList(), failures);
        return more;
    }

    private void handOut(Sweep.Request<Account> request, List<ByteBuffer> pieces, FaroException fault) {
        Account consumer = request.owner();
        if (consumer.closed || consumer.planEnded || fault != null) {
            drop(consumer, pieces, request.bytes());
            if (!consumer.closed && !consumer.planEnded) {
                ledger.end(consumer, fault);
            }
            return;
        }
        long at = request.start();
        int brought = 0;
        try {
            for (ByteBuffer piece : pieces) {
                int bytes = piece.remaining();
                consumer.feed.bring(piece, at);
                brought++;
                at += bytes;
                consumer.held += ledger.grants.size(bytes);
            }
            consumer.outstanding = consumer.request != null;
            ledger.feedLater(consumer);
        } catch (Throwable e) {
            failures.add(e);
            drop(consumer, pieces.subList(brought, pieces.size()), request.end() - at);
            ledger.end(consumer, Failures.ofReading(file.file, "bytes to be handed out", e));
        }
    }

    private void drop(Account consumer, List<ByteBuffer> pieces, long bytes) {
        ledger.free(consumer, bytes);
        madeRoom = true;
        dropped.addAll(pieces);
    }

    /** Tells all consumers that something arrived, even if the listener of one fails. */
    static void tell(Iterable<Account> consumers, Failures failures) {
        for (Account consumer : consumers) {
            try {
                consumer.tell();
            } catch (Throwable e) {
                failures.add(e);
            }
        }
    }
}
