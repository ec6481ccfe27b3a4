package dev.faro.merge;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.bytes.HeaderBytes;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** A push of one fragment of a producer (MRG-5). For one thread; closing it gives it up, unless it was committed. */
public final class Push implements Closeable {
    /** No bytes. */
    static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final Turns turns;
    private final long producer;
    private final Intake intake;
    private ByteArrayOutputStream waiting;
    private boolean over;

    /** The merge, which gives pushes their turns (MRG-6). */
    interface Turns {
        /** Takes bytes of a push. Returns an outcome if it is refused. */
        Outcome write(Push push, ByteBuffer bytes) throws FaroException;

        Outcome commit(Push push) throws FaroException;

        void abort(Push push);
    }

    Push(Turns turns, long producer, Intake intake) {
        this.turns = turns;
        this.producer = producer;
        this.intake = intake;
    }

    /**
     * Takes the next bytes of the fragment, from the buffer's position to its limit, which the call moves.
     *
     * @return null, or an outcome if the push is refused, and over
     * @throws FaroException a fault of FRG-4 or MRG-7, in the role {@code fragment}, or {@code io}: the push is over
     *     then. {@code invalid-argument} for a push that is over
     */
    public Outcome write(ByteBuffer bytes) throws FaroException {
        checkOpen();
        Outcome refused = turns.write(this, bytes);
        bytes.position(bytes.limit());
        return refused;
    }

    /**
     * Ends the fragment, and commits the push.
     *
     * @throws FaroException as {@link #write}; {@code truncated} for a fragment without its end. An {@code io} error of
     *     ending the region does not undo the push, which is in the open region then (MRG-9)
     */
    public Outcome commit() throws FaroException {
        checkOpen();
        return turns.commit(this);
    }

    /** Gives the push up: nothing of it stays. Does nothing after {@link #commit}. */
    @Override
    public void close() {
        if (!over) {
            turns.abort(this);
        }
    }

    private void checkOpen() throws FaroException {
        if (over) {
            throw FaroException.invalidArgument("a push that is open", "one that is over");
        }
    }

    // The merge calls the rest, with its lock.

    Intake intake() {
        return intake;
    }

    void isOver() {
        over = true;
    }

    /** Keeps bytes until the push has the turn. */
    void waits(ByteBuffer bytes) {
        if (waiting == null) {
            waiting = new ByteArrayOutputStream();
        }
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        waiting.writeBytes(copy);
    }

    ByteBuffer takeWaiting() {
        ByteBuffer bytes = waiting == null ? NOTHING : ByteBuffer.wrap(waiting.toByteArray());
        waiting = null;
        return bytes;
    }

    /** MRG-7 for bytes of the fragment. */
    Outcome take(MergedFile file, FileHeader merged, MergeOptions options, ByteBuffer bytes) throws FaroException {
        for (Intake.Part part = intake.next(bytes); part != null; part = intake.next(bytes)) {
            FileHeader header = intake.header();
            switch (part) {
                case HEADER -> {
                    HeaderBytes.checkPush(header, producer, merged, options.fileIdOf(header), FragmentFile.INPUT);
                    Long attempt = file.attempt(producer);
                    if (attempt != null && attempt != header.attempt()) {
                        return Outcome.OTHER_ATTEMPT;
                    }
                }
                case SCHEMA -> {
                    if (!Arrays.equals(intake.schema(), options.schema)) {
                        throw FragmentFile.INPUT.fault(ErrorCode.MISMATCHED_PAIR, FileHeader.SIZE + BlockHeader.SIZE,
                                "the schema of the merged file", "another one");
                    }
                }
                case DICTIONARY -> {
                    int number = intake.blocks().dictionary();
                    file.dictionary(number, intake.dictionary(number), intake.blocks().offset());
                }
                case BLOCK -> {
                    if (!file.block(header, intake.blocks())) {
                        return Outcome.GAP;
                    }
                }
                case END -> { }
            }
        }
        if (bytes.hasRemaining()) {
            throw FragmentFile.INPUT.fault(ErrorCode.MALFORMED_BLOCK, intake.at(), "nothing after the end block",
                    bytes.remaining() + " bytes");
        }
        return null;
    }
}
