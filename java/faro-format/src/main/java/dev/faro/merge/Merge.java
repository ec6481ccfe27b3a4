package dev.faro.merge;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileRole;
import dev.faro.internal.storage.OutputName;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;

/**
 * A merged file that is being made: the blocks of many producers, each exactly once. Any number of threads may push: one
 * push at a time appends, and the others wait in memory (MRG-6).
 * <pre>{@code
 * try (Merge merge = Merge.create(Path.of("merged-3"), new MergeOptions(64).generation(1))) {
 *     Begun begun = merge.begin(7, 1);
 *     if (begun.push() != null) {
 *         begun.push().write(bytesOfAFragment);
 *         Outcome outcome = begun.push().commit();
 *     }
 *     MergeSummary summary = merge.finish();
 * }
 * }</pre>
 */
public final class Merge implements Closeable {
    private final Turns turns = new Turns();
    private final MergeOptions options;
    private final FileHeader header;
    private final Path data;
    private final Path index;
    /** Null once the merge was finished, closed or removed. */
    private MergedFile file;
    private boolean over;
    private Push turn;
    private long waiting;
    /** The buffer of an intake that is done, or null. */
    private ByteBuffer spare;

    /**
     * The answer of {@link #begin}.
     *
     * @param push the push, or null if it is refused
     * @param refused why it is refused: {@link Outcome#LATE} or {@link Outcome#STALE}; null if it is not
     */
    public record Begun(Push push, Outcome refused) {}

    private Merge(MergedFile file, Path data, Path index, MergeOptions options) {
        this.file = file;
        this.header = file.header();
        this.data = data;
        this.index = index;
        this.options = options;
    }

    /**
     * Creates the pair of files with this NAME, which grow from now on (MRG-4).
     *
     * @throws FaroException {@code invalid-argument} for an option out of range; {@code io}; a file that exists is one reason
     */
    public static Merge create(Path name, MergeOptions options) throws FaroException {
        Objects.requireNonNull(name, "name");
        MergeOptions own = new MergeOptions(options);
        FileHeader header = own.header();
        OutputName output = pairOf(name);
        Path data = output.file(FileRole.DATA);
        Path index = output.file(FileRole.INDEX);
        return new Merge(MergedFile.create(data, index, header, own), data, index, own);
    }

    /**
     * Goes on with a merge that was not finished, from its last commit (MRG-4). What was not committed is cut off.
     *
     * @throws FaroException {@code io} if a living writer has the files; {@code mismatched-pair} if the file is not
     *     what the options say; {@code invalid-argument} for a finished file; a fault that repair reports. The files
     *     are as they were then
     */
    public static Merge resume(Path name, MergeOptions options) throws FaroException {
        Objects.requireNonNull(name, "name");
        MergeOptions own = new MergeOptions(options);
        FileHeader wanted = own.header();
        OutputName output = pairOf(name);
        Path data = output.file(FileRole.DATA);
        Path index = output.file(FileRole.INDEX);
        return new Merge(Resuming.resume(data, index, wanted, own), data, index, own);
    }

    private static OutputName pairOf(Path name) throws FaroException {
        OutputName output = OutputName.of(name);
        if (output.ending() == OutputName.Ending.SINGLE) {
            throw FaroException.invalidArgument("the NAME of a pair", name);
        }
        return output;
    }

    /** The header of the merged file. */
    public FileHeader header() {
        return header;
    }

    /**
     * Begins a push of one fragment.
     *
     * @param producer the producer's number, an unsigned 64-bit value
     * @param generation the generation of the merge that the push is for
     * @throws FaroException {@code invalid-argument} for the producer of merged files, -1
     */
    public synchronized Begun begin(long producer, long generation) throws FaroException {
        if (producer == -1) {
            throw FaroException.invalidArgument("a producer below 2^64 - 1", Long.toUnsignedString(producer));
        }
        if (over) {
            return new Begun(null, Outcome.LATE);
        }
        if (generation != header.attempt()) {
            return new Begun(null, Outcome.STALE);
        }
        Intake intake = new Intake(options.limits, spare);
        spare = null;
        return new Begun(new Push(turns, producer, intake), null);
    }

    /**
     * Ends the open region, so that followers see what was merged so far (MRG-10). If no push appends, this also gives
     * the memory for appending back.
     *
     * @throws FaroException {@code io}; {@code invalid-argument} if the merge is finished or closed
     */
    public synchronized void flush() throws FaroException {
        MergedFile own = open();
        own.endRegion();
        own.releaseBuffer();
        spare = null;
    }

    /**
     * Gives the memory for appending back, up to 256 KiB. What was appended is written first; no region ends. While a push
     * appends, this does nothing. A service that has many merges calls it for those that wait for their next push.
     *
     * @throws FaroException {@code io}; {@code invalid-argument} if the merge is finished or closed
     */
    public synchronized void release() throws FaroException {
        MergedFile own = open();
        if (turn == null) {
            own.writeBuffer();
            own.releaseBuffer();
            spare = null;
        }
    }

    /**
     * Ends the open region and finishes the files. Pushes that are open are late from now on. If it fails, the file
     * stays unfinished, and this may be called again (MRG-10: {@code finalize}).
     *
     * @throws FaroException {@code io}; {@code invalid-argument} if the merge is finished or closed
     */
    public synchronized MergeSummary finish() throws FaroException {
        MergedFile own = open();
        over = true;
        turn = null;
        long runs = own.finish(options);
        file = null;
        own.close();
        return new MergeSummary(data, index, own.regions(), runs);
    }

    /**
     * Closes the files, unfinished, and cuts them at their last region; {@link #resume} goes on from there. Does nothing
     * after {@link #finish}, or if it was called before.
     *
     * @throws FaroException {@code io}
     */
    @Override
    public synchronized void close() throws FaroException {
        if (file != null) {
            MergedFile own = end();
            try {
                own.cut();
            } finally {
                own.close();
            }
        }
    }

    /**
     * Closes and removes the files.
     *
     * @throws FaroException {@code io}; {@code invalid-argument} if the merge is finished or closed
     */
    public synchronized void remove() throws FaroException {
        open();
        MergedFile own = end();
        try {
            own.remove();
        } finally {
            own.close();
        }
    }

    private MergedFile end() {
        MergedFile own = file;
        file = null;
        over = true;
        turn = null;
        return own;
    }

    private MergedFile open() throws FaroException {
        if (file == null) {
            throw FaroException.invalidArgument("a merge that is open", "one that is finished or closed");
        }
        return file;
    }

    /** What pushes call. It is not public, as the methods of an interface of the merge itself would be. */
    private final class Turns implements Push.Turns {
        @Override
        public Outcome write(Push push, ByteBuffer bytes) throws FaroException {
            return Merge.this.write(push, bytes);
        }

        @Override
        public Outcome commit(Push push) throws FaroException {
            return Merge.this.commit(push);
        }

        @Override
        public void abort(Push push) {
            Merge.this.abort(push);
        }
    }

    /** Takes bytes of a push: they are appended, or wait. Returns an outcome if the push is refused. */
    private synchronized Outcome write(Push push, ByteBuffer bytes) throws FaroException {
        if (over) {
            return ends(push, Outcome.LATE);
        }
        if (turn != null && turn != push) {
            if (bytes.remaining() > options.maxWaiting - waiting) {
                return ends(push, Outcome.COLLISION);
            }
            waiting += bytes.remaining();
            push.waits(bytes);
            return null;
        }
        return append(push, bytes);
    }

    /** Commits a push (MRG-9). */
    private synchronized Outcome commit(Push push) throws FaroException {
        if (over) {
            return ends(push, Outcome.LATE);
        }
        if (turn != null && turn != push) {
            return ends(push, Outcome.COLLISION);
        }
        Outcome refused = append(push, Push.NOTHING);
        if (refused != null) {
            return refused;
        }
        try {
            push.intake().checkEnded();
            boolean merged = file.commitPush(push.intake().last());
            if (merged && file.openBytes() >= options.chunkSize) {
                file.endRegion();
            }
            return merged ? Outcome.MERGED : Outcome.DUPLICATE;
        } finally {
            ends(push, null);
        }
    }

    /** Gives a push up. */
    private synchronized void abort(Push push) {
        ends(push, null);
    }

    /** Appends what has waited, and then these bytes. */
    private Outcome append(Push push, ByteBuffer bytes) throws FaroException {
        boolean goesOn = false;
        try {
            if (turn == null) {
                turn = push;
                open().beginPush();
            }
            ByteBuffer before = push.takeWaiting();
            waiting -= before.remaining();
            Outcome refused = push.take(file, header, options, before);
            if (refused == null) {
                refused = push.take(file, header, options, bytes);
            }
            goesOn = refused == null;
            return refused;
        } finally {
            if (!goesOn) {
                ends(push, null);
            }
        }
    }

    /** Ends a push: what it appended and did not commit is taken back, and the turn given back (MRG-8). */
    private Outcome ends(Push push, Outcome outcome) {
        waiting -= push.takeWaiting().remaining();
        push.isOver();
        ByteBuffer buffer = push.intake().giveBuffer();
        spare = buffer == null ? spare : buffer;
        if (turn == push) {
            turn = null;
            if (file != null) {
                file.giveUpPush();
            }
        }
        return outcome;
    }
}
