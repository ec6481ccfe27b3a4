package dev.faro.fuzz;

import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.Limits;
import dev.faro.merge.Merge;
import dev.faro.merge.MergeOptions;
import dev.faro.merge.MergeSummary;
import dev.faro.merge.Outcome;
import dev.faro.merge.Push;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BiConsumer;

/** The program of {@code merge}, decoded from arbitrary bytes (TARGETS.md). */
final class MergeProgram {
    private static final UUID FILE_ID = new UUID(0x4D4D4D4D4D4D4D4DL, 0x4D4D4D4D4D4D4D4DL);
    private static final int MAX_STEPS = 100;
    private static final int OWN_PUSH = 16;

    final int partitionCount;
    final int firstPartition;
    final int generation;
    final Framing framing;
    final boolean dictionaries;
    final long maxWaiting;
    final Limits limits;
    /** The schema message; null without framing arrow. */
    final byte[] schema;
    final List<byte[]> fragments = new ArrayList<>();
    final List<Step> steps = new ArrayList<>();

    private final long chunkSize;
    private final byte[] input;
    private int at;

    /** One step of a merge. */
    sealed interface Step permits Begin, Write, Commit, Abort, Flush, Finish, Close, Resume {}

    /** Begins a push of a fragment. */
    record Begin(int push, int fragment, boolean otherProducer, boolean otherGeneration) implements Step {}

    /** Writes the next bytes of a push's fragment. */
    record Write(int push, int count) implements Step {}

    /** Commits a push. */
    record Commit(int push) implements Step {}

    /** Gives a push up. */
    record Abort(int push) implements Step {}

    /** Ends the open region. */
    record Flush() implements Step {}

    /** Finishes the file. */
    record Finish() implements Step {}

    /** Closes the merge. */
    record Close() implements Step {}

    /** Closes the merge if it is open, and resumes it. */
    record Resume() implements Step {}

    private static final class Pushing {
        private final Push push;
        private final byte[] fragment;
        private int written;

        Pushing(Push push, byte[] fragment) {
            this.push = push;
            this.fragment = fragment;
        }
    }

    private MergeProgram(byte[] input) {
        this.input = input;
        int flags = next();
        partitionCount = next() + 1;
        int numbers = next();
        firstPartition = numbers & 15;
        generation = numbers >> 4;
        int sizes = next();
        chunkSize = 1L << (sizes & 15);
        maxWaiting = sizes >> 4 == 0 ? 0 : 16L << (sizes >> 4);
        dictionaries = (flags & 1) != 0;
        framing = List.of(Framing.OPAQUE, Framing.RECORDS, Framing.ARROW, Framing.RECORDS).get(flags >> 4 & 3);
        limits = FilesInput.limits((byte) flags);
        schema = framing == Framing.ARROW ? sized() : null;
        for (int count = next() % 9; count > 0; count--) {
            byte[] fragment = sized();
            if (FilesInput.isSealed((byte) flags)) {
                Seal.sealStream(fragment);
            }
            fragments.add(fragment);
        }
    }

    static MergeProgram of(byte[] input) {
        MergeProgram program = new MergeProgram(input);
        for (int i = 0; i < MAX_STEPS && program.at < input.length; i++) {
            program.step();
        }
        return program;
    }

    private int next() {
        return at < input.length ? input[at++] & 0xFF : 0;
    }

    private int nextShort() {
        return next() | next() << 8;
    }

    private byte[] sized() {
        int size = nextShort();
        byte[] part = Arrays.copyOfRange(input, at, at + Math.min(size, input.length - at));
        at += part.length;
        return part;
    }

    private void step() {
        int code = next();
        int call = code & 15;
        int push = call <= 2 ? OWN_PUSH : code >> 4;
        if (call <= 5) {
            steps.add(new Begin(push, next() % Math.max(1, fragments.size()), call == 4, call == 5));
        }
        switch (call) {
            case 0, 1, 2, 7 -> steps.addAll(List.of(new Write(push, Integer.MAX_VALUE), new Commit(push)));
            case 6 -> steps.add(new Write(push, nextShort()));
            case 8 -> steps.add(new Commit(push));
            case 9 -> steps.add(new Abort(push));
            case 10 -> steps.add(new Flush());
            case 11 -> steps.add(new Finish());
            case 12 -> steps.add(new Close());
            case 13 -> steps.add(new Resume());
            default -> { }
        }
    }

    private MergeOptions options() {
        return new MergeOptions(partitionCount).firstPartition(firstPartition).generation(generation).framing(framing)
                .schema(schema).dictionaries(dictionaries).fileId(FILE_ID).chunkSize(chunkSize).maxWaiting(maxWaiting)
                .limits(limits);
    }

    /** A fragment; without fragments one without bytes. */
    byte[] fragment(int number) {
        return fragments.isEmpty() ? new byte[0] : fragments.get(number);
    }

    /** The producer that the step begins a push of. */
    long producer(Begin begin) {
        byte[] bytes = fragment(begin.fragment);
        byte[] field = bytes.length > 24 ? Arrays.copyOfRange(bytes, 24, 32) : new byte[8];
        return ByteBuffer.wrap(field).order(ByteOrder.LITTLE_ENDIAN).getLong() + (begin.otherProducer ? 1 : 0);
    }

    /**
     * Carries out the steps; {@code see} gets each and its answer: a word, an outcome, a summary or an error.
     *
     * @throws FaroException of creating the merge
     */
    void carryOut(Path name, BiConsumer<Step, Object> see) throws FaroException {
        Running running = new Running(this, name);
        try {
            for (Step step : steps) {
                running.see(step, see);
            }
            if (running.open) {
                running.see(new Finish(), see);
            }
        } finally {
            running.merge.close();
        }
    }

    /** A merge that carries out a program. */
    private static final class Running {
        private final MergeProgram program;
        private final Path name;
        private final Map<Integer, Pushing> pushes = new HashMap<>();
        private Merge merge;
        private boolean open = true;

        Running(MergeProgram program, Path name) throws FaroException {
            this.program = program;
            this.name = name;
            merge = Merge.create(name, program.options());
        }

        void see(Step step, BiConsumer<Step, Object> see) {
            Object answer;
            try {
                answer = step(step);
            } catch (FaroException e) {
                answer = e;
            }
            if (answer != null) {
                see.accept(step, answer);
            }
        }

        /** The answer of a step; null if there is nothing to do. */
        private Object step(Step step) throws FaroException {
            if (step instanceof Begin begin) {
                return begin(begin);
            } else if (step instanceof Write write) {
                return write(pushes.get(write.push), write.count);
            } else if (step instanceof Commit commit) {
                Pushing pushing = pushes.get(commit.push);
                return pushing == null ? null : pushing.push.commit();
            } else if (step instanceof Abort abort) {
                Pushing pushing = pushes.get(abort.push);
                if (pushing == null) {
                    return null;
                }
                pushing.push.close();
            } else if (step instanceof Flush) {
                merge.flush();
            } else if (step instanceof Finish) {
                open = false;
                MergeSummary summary = merge.finish();
                return summary;
            } else if (step instanceof Close) {
                if (!open) {
                    return null;
                }
                open = false;
                merge.close();
            } else {
                resume();
            }
            return "done";
        }

        private Object begin(Begin begin) throws FaroException {
            Pushing before = pushes.remove(begin.push);
            if (before != null) {
                before.push.close();
            }
            Merge.Begun begun =
                    merge.begin(program.producer(begin), program.generation + (begin.otherGeneration ? 1 : 0));
            if (begun.push() == null) {
                return begun.refused();
            }
            pushes.put(begin.push, new Pushing(begun.push(), program.fragment(begin.fragment)));
            return "begun";
        }

        private static Object write(Pushing pushing, int count) throws FaroException {
            if (pushing == null) {
                return null;
            }
            int taken = Math.min(count, pushing.fragment.length - pushing.written);
            ByteBuffer bytes = ByteBuffer.wrap(pushing.fragment, pushing.written, taken);
            pushing.written += taken;
            Outcome refused = pushing.push.write(bytes);
            return refused == null ? "taken" : refused;
        }

        private void resume() throws FaroException {
            if (open) {
                open = false;
                merge.close();
            }
            merge = Merge.resume(name, program.options());
            open = true;
        }
    }
}
