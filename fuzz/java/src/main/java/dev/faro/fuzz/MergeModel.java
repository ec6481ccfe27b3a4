package dev.faro.fuzz;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileRole;
import dev.faro.Limits;
import dev.faro.follow.Follower;
import dev.faro.merge.Have;
import dev.faro.merge.MergeSummary;
import dev.faro.merge.Outcome;
import dev.faro.merge.Provenance;
import dev.faro.reader.ReaderOptions;
import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** A model of a merge: what each step must give, and what the file has in the end (MRG-2, MRG-5 to MRG-7). */
final class MergeModel {
    /** What the file has of a producer in a partition. */
    record Held(long blocks, boolean complete) {}

    /** A block by its kind and a sum of its plain payload, which is null if it does not decode. */
    record Piece(int kind, String plain) {}

    /** A refusal with an error: its code, role and offset. */
    private record Fault(ErrorCode code, FileRole role, long offset) {
        static final Fault ARGUMENT = new Fault(ErrorCode.INVALID_ARGUMENT, null, FaroException.NO_OFFSET);

        static Fault at(ErrorCode code, long offset) {
            return new Fault(code, FileRole.FRAGMENT, offset);
        }
    }

    /**
     * The content of the file.
     *
     * @param held by partition and by producer, which is unsigned
     * @param attempts by producer
     * @param pieces by partition
     */
    record Merged(Map<Integer, TreeMap<Long, Held>> held, Map<Long, Long> attempts, Map<Integer, List<Piece>> pieces) {
        Merged() {
            this(new HashMap<>(), new HashMap<>(), new HashMap<>());
        }

        Merged copy() {
            Merged copy = new Merged();
            held.forEach((partition, by) -> copy.of(partition).putAll(by));
            copy.attempts.putAll(attempts);
            pieces.forEach((partition, list) -> copy.pieces.put(partition, new ArrayList<>(list)));
            return copy;
        }

        TreeMap<Long, Held> of(int partition) {
            return held.computeIfAbsent(partition, any -> new TreeMap<>(Long::compareUnsigned));
        }

        /** How many pairs of a partition and a producer there are. */
        int pairs() {
            return held.values().stream().mapToInt(Map::size).sum();
        }
    }

    private enum State { OPEN, CLOSED, FINISHED }

    private static final class Pushed {
        private final int fragment;
        private final long producer;
        private int written;
        private int waiting;
        private boolean over;
        /** Whether the merge that it began in has ended. */
        private boolean late;

        Pushed(int fragment, long producer) {
            this.fragment = fragment;
            this.producer = producer;
        }
    }

    private final MergeProgram program;
    private final Path data;
    private final Path index;
    /** For each fragment, what was read of it; null if a reader of fragments does not accept it. */
    private final List<FragmentStream.One> accepted = new ArrayList<>();
    private final Map<Integer, Pushed> pushes = new HashMap<>();
    private State state = State.OPEN;
    /** The push that has the turn, or null. */
    private Integer turn;
    private Merged merged = new Merged();

    MergeModel(MergeProgram program, Path data, Path index) {
        this.program = program;
        this.data = data;
        this.index = index;
        for (byte[] bytes : program.fragments) {
            FragmentStream read = FragmentStream.of(new ByteArrayInputStream(bytes), bytes.length, program.limits);
            accepted.add(read.error() == null && read.read().size() == 1 ? read.read().get(0) : null);
        }
    }

    /** The limits of the program, except for what a merged file has more of than a fragment. */
    static Limits limits(MergeProgram program) {
        return program.limits.withMaxRegions(Limits.DEFAULT.maxRegions())
                .withMaxMessageSize(Limits.DEFAULT.maxMessageSize())
                .withMaxDictionaries(Limits.DEFAULT.maxDictionaries());
    }

    boolean isFinished() {
        return state == State.FINISHED;
    }

    Merged merged() {
        return merged;
    }

    /** Checks the answer of a step. */
    void step(MergeProgram.Step step, Object answer) {
        if (step instanceof MergeProgram.Begin begin) {
            begin(begin, answer);
        } else if (step instanceof MergeProgram.Write write) {
            write(write, answer);
        } else if (step instanceof MergeProgram.Commit commit) {
            commit(commit.push(), answer);
        } else if (step instanceof MergeProgram.Abort abort) {
            release(abort.push());
            expect(answer, "done");
        } else if (step instanceof MergeProgram.Flush) {
            expect(answer, state == State.OPEN ? "done" : Fault.ARGUMENT);
            Broken.unless(state != State.OPEN || inRegions().equals(merged), "a flush ends the region");
        } else if (step instanceof MergeProgram.Finish) {
            finish(answer);
        } else if (step instanceof MergeProgram.Close) {
            Broken.unless(state == State.OPEN, "only an open merge is closed");
            expect(answer, "done");
            end(State.CLOSED);
            merged = inRegions();
        } else {
            resume(answer);
        }
    }

    private static void expect(Object answer, Object expected) {
        Object found = answer instanceof FaroException e ? new Fault(e.code(), e.role(), e.offset()) : answer;
        Broken.unless(found.equals(expected), expected + ", and the merge says " + answer);
    }

    private static boolean isFault(Object answer, ErrorCode code) {
        return answer instanceof FaroException e && e.code() == code;
    }

    private void begin(MergeProgram.Begin begin, Object answer) {
        release(begin.push());
        pushes.remove(begin.push());
        long producer = program.producer(begin);
        if (producer == -1) {
            Broken.unless(isFault(answer, ErrorCode.INVALID_ARGUMENT), "no such producer");
        } else if (state != State.OPEN) {
            expect(answer, Outcome.LATE);
        } else if (begin.otherGeneration()) {
            expect(answer, Outcome.STALE);
        } else {
            expect(answer, "begun");
            pushes.put(begin.push(), new Pushed(begin.fragment(), producer));
        }
    }

    private void finish(Object answer) {
        if (state != State.OPEN) {
            expect(answer, Fault.ARGUMENT);
        } else if (answer instanceof MergeSummary summary) {
            Broken.unless(summary.runs() >= Math.max(summary.regions(), merged.pairs()),
                    "there is a run for each region, and for each partition and producer");
            end(State.FINISHED);
        } else {
            throw new Broken("an open merge can be finished: " + answer);
        }
    }

    private void resume(Object answer) {
        if (state == State.FINISHED) {
            Broken.unless(isFault(answer, ErrorCode.INVALID_ARGUMENT) || isFault(answer, ErrorCode.LIMIT_EXCEEDED),
                    "a finished merge is not resumed: " + answer);
            return;
        }
        end(State.CLOSED);
        merged = inRegions();
        if (answer.equals("done")) {
            state = State.OPEN;
        } else {
            Broken.unless(isFault(answer, ErrorCode.LIMIT_EXCEEDED), "a closed merge is resumed: " + answer);
        }
    }

    /** The beginning of what was merged that is in regions. */
    private Merged inRegions() {
        Merged found = new Merged();
        ReaderOptions options = ReaderOptions.DEFAULT.withLimits(limits(program));
        try (Follower follower = Follower.openPair(data, index, options)) {
            follower.poll();
            for (int i = 0; i < program.partitionCount; i++) {
                int partition = program.firstPartition + i;
                int count = 0;
                for (Have have : Provenance.have(follower, partition)) {
                    Held held = new Held(have.blocks(), have.complete());
                    Held all = merged.of(partition).get(have.producer());
                    Broken.unless(held.equals(all) || all != null && held.blocks < all.blocks && !held.complete,
                            "the regions have a beginning of what was merged");
                    Broken.unless(merged.attempts.get(have.producer()) == have.attempt(), "the attempt is the same");
                    found.of(partition).put(have.producer(), held);
                    found.attempts.put(have.producer(), have.attempt());
                    count += have.blocks();
                }
                if (count > 0) {
                    found.pieces.put(partition, new ArrayList<>(merged.pieces.get(partition).subList(0, count)));
                }
            }
        } catch (FaroException e) {
            throw new Broken("what is being merged can be followed: " + e);
        }
        merged.held.values().removeIf(Map::isEmpty);
        return found;
    }

    private void end(State ended) {
        state = ended;
        turn = null;
        pushes.values().forEach(pushed -> pushed.late = true);
    }

    /** Ends a push, if it is there. */
    private void release(int push) {
        Pushed pushed = pushes.get(push);
        if (pushed != null) {
            pushed.over = true;
            pushed.waiting = 0;
            if (isTurn(push) && !pushed.late) {
                turn = null;
            }
        }
    }

    private boolean isTurn(int push) {
        return turn != null && turn == push;
    }

    /** Whether a push is over or late; then its answer is checked. */
    private boolean hasEnded(int push, Object answer) {
        Pushed pushed = pushes.get(push);
        if (pushed.over) {
            expect(answer, Fault.ARGUMENT);
        } else if (pushed.late) {
            expect(answer, Outcome.LATE);
            release(push);
        }
        return pushed.over;
    }

    private void write(MergeProgram.Write write, Object answer) {
        long waiting = pushes.values().stream().mapToLong(pushed -> pushed.waiting).sum();
        Pushed pushed = pushes.get(write.push());
        int count = Math.min(write.count(), program.fragment(pushed.fragment).length - pushed.written);
        pushed.written += count;
        if (hasEnded(write.push(), answer)) {
            return;
        }
        if (turn != null && !isTurn(write.push())) {
            if (waiting + count <= program.maxWaiting) {
                pushed.waiting += count;
                expect(answer, "taken");
            } else {
                expect(answer, Outcome.COLLISION);
                release(write.push());
            }
            return;
        }
        pushed.waiting = 0;
        turn = write.push();
        if (!answer.equals("taken")) {
            refused(write.push(), answer);
        }
    }

    private void commit(int push, Object answer) {
        if (hasEnded(push, answer)) {
            return;
        }
        if (turn != null && !isTurn(push)) {
            expect(answer, Outcome.COLLISION);
            release(push);
        } else if (answer == Outcome.MERGED || answer == Outcome.DUPLICATE) {
            Pushed pushed = pushes.get(push);
            Broken.unless(pushed.written == program.fragment(pushed.fragment).length, "the whole fragment was written");
            Merged next = merged.copy();
            Object expected = expected(pushed, next);
            Broken.unless(expected != null, "a reader of fragments accepts what is merged");
            expect(answer, expected);
            merged = next;
            turn = push;
            release(push);
        } else {
            refused(push, answer);
        }
    }

    /** A refusal that comes from what the fragment says. */
    private void refused(int push, Object answer) {
        Pushed pushed = pushes.get(push);
        int size = program.fragment(pushed.fragment).length;
        if (answer instanceof FaroException e) {
            Broken.unless(e.role() == FileRole.FRAGMENT && e.offset() >= 0 && e.offset() <= size,
                    "the offset is inside the fragment: " + e);
        } else {
            Broken.unless(answer == Outcome.GAP || answer == Outcome.OTHER_ATTEMPT,
                    "a refusal for what the fragment says: " + answer);
        }
        boolean cut = pushed.written < size && isFault(answer, ErrorCode.TRUNCATED);
        Object expected = cut ? null : expected(pushed, merged.copy());
        if (expected != null) {
            expect(answer, expected);
        }
        turn = push;
        release(push);
    }

    /**
     * What a push gives that has the turn and all bytes of a fragment that is accepted; null if it is not accepted.
     * {@code next} becomes what the file has then.
     */
    private Object expected(Pushed pushed, Merged next) {
        FragmentStream.One fragment = accepted.isEmpty() ? null : accepted.get(pushed.fragment);
        if (fragment == null) {
            return null;
        }
        FileHeader header = fragment.header;
        long end = header.firstPartition() + (long) header.partitionCount();
        if (header.producer() != pushed.producer) {
            return Fault.at(ErrorCode.MISMATCHED_PAIR, 24);
        }
        if (header.framing() != program.framing) {
            return Fault.at(ErrorCode.MISMATCHED_PAIR, 11);
        }
        if (header.firstPartition() < program.firstPartition || end > program.firstPartition + program.partitionCount) {
            return Fault.at(ErrorCode.MISMATCHED_PAIR, 56);
        }
        if (header.hasDictionaries() && !program.dictionaries) {
            return Fault.at(ErrorCode.MISMATCHED_PAIR, 16);
        }
        Long attempt = next.attempts.putIfAbsent(header.producer(), header.attempt());
        if (attempt != null && attempt != header.attempt()) {
            return Outcome.OTHER_ATTEMPT;
        }
        if (!Arrays.equals(fragment.schema, program.schema)) {
            return Fault.at(ErrorCode.MISMATCHED_PAIR, 88);
        }
        return appended(fragment, next);
    }

    private static Object appended(FragmentStream.One fragment, Merged next) {
        long producer = fragment.header.producer();
        Set<Integer> partitions = new LinkedHashSet<>();
        for (FragmentStream.Block block : fragment.blocks) {
            Held held = next.of(block.partition()).getOrDefault(producer, new Held(0, false));
            if (block.number() < held.blocks) {
                continue;
            }
            if (held.complete) {
                return Fault.at(ErrorCode.INCONSISTENT_INDEX, block.offset() + 12);
            }
            if (block.number() > held.blocks) {
                return Outcome.GAP;
            }
            next.of(block.partition()).put(producer, new Held(held.blocks + 1, false));
            next.pieces.computeIfAbsent(block.partition(), any -> new ArrayList<>())
                    .add(new Piece(block.kind(), block.plain()));
            partitions.add(block.partition());
        }
        for (int partition : partitions) {
            next.of(partition).computeIfPresent(producer, (any, held) -> new Held(held.blocks, fragment.last));
        }
        next.held.values().removeIf(Map::isEmpty);
        return partitions.isEmpty() ? Outcome.DUPLICATE : Outcome.MERGED;
    }
}
