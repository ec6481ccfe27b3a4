package dev.faro.fuzz;

import dev.faro.FaroException;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.merge.Have;
import dev.faro.merge.MergeSummary;
import dev.faro.merge.Provenance;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** {@code merge}: pushes of fragments by a program, twice, and what is read from the result. */
final class MergeTarget implements Target {
    @Override
    public void run(byte[] input, Folder folder, Transcript transcript) throws IOException {
        MergeProgram program = MergeProgram.of(input);
        Path name = folder.path("out");
        MergeModel model =
                new MergeModel(program, folder.path(FilesInput.DATA), folder.path(FilesInput.INDEX));
        List<Object> answers = new ArrayList<>();
        try {
            program.carryOut(name, (step, answer) -> {
                model.step(step, answer);
                answers.add(answer);
            });
        } catch (FaroException e) {
            transcript.line("create", e);
            Broken.unless(folder.count() == 0, "a merge that is refused leaves nothing");
            return;
        }
        print(answers, transcript);
        Broken.unless(folder.count() == 2, "the merge has its files and no others");
        byte[] data = folder.read(FilesInput.DATA);
        byte[] index = folder.read(FilesInput.INDEX);
        transcript.line("file", "data", data.length, Sums.of(data));
        transcript.line("file", "index", index.length, Sums.of(index));
        if (model.isFinished()) {
            read(program, model.merged(), folder, transcript);
        }
        again(program, folder, answers, data, index);
    }

    private static void print(List<Object> answers, Transcript transcript) {
        for (int i = 0; i < answers.size(); i++) {
            if (answers.get(i) instanceof MergeSummary summary) {
                transcript.line("step", i, "finalized", summary.regions(), summary.runs());
            } else {
                transcript.line("step", i, answers.get(i));
            }
        }
    }

    private static void again(MergeProgram program, Folder folder, List<Object> answers, byte[] data, byte[] index)
            throws IOException {
        folder.clear();
        List<Object> second = new ArrayList<>();
        program.carryOut(folder.path("out"), (step, answer) -> second.add(answer));
        Transcript before = new Transcript();
        Transcript after = new Transcript();
        print(answers, before);
        print(second, after);
        Broken.unless(before.toString().equals(after.toString()), "two merges give the same answers");
        Broken.unless(Arrays.equals(data, folder.read(FilesInput.DATA))
                && Arrays.equals(index, folder.read(FilesInput.INDEX)), "two merges leave the same bytes");
    }

    private static void read(MergeProgram program, MergeModel.Merged merged, Folder folder, Transcript transcript)
            throws IOException {
        ReaderOptions options = ReaderOptions.DEFAULT.withLimits(MergeModel.limits(program));
        try (Reader reader = Reader.openPair(folder.path(FilesInput.DATA), folder.path(FilesInput.INDEX), options)) {
            Check.check(reader, CheckLevel.CHECKSUMS);
            for (int partition : Content.partitions(reader.header())) {
                have(reader, partition, merged, transcript);
                blocks(reader, partition, merged.pieces().getOrDefault(partition, List.of()));
            }
        } catch (FaroException e) {
            throw new Broken("what was merged passes a check: " + e);
        }
    }

    private static void have(Reader reader, int partition, MergeModel.Merged merged, Transcript transcript)
            throws FaroException {
        List<Have> expected = new ArrayList<>();
        for (Map.Entry<Long, MergeModel.Held> held : merged.of(partition).entrySet()) {
            long attempt = merged.attempts().get(held.getKey());
            expected.add(new Have(held.getKey(), attempt, held.getValue().blocks(), held.getValue().complete()));
        }
        List<Have> found = Provenance.have(reader, partition);
        Broken.unless(found.equals(expected), "partition " + partition + " has what was merged");
        for (Have have : found) {
            transcript.line("have", partition, Long.toUnsignedString(have.producer()),
                    Long.toUnsignedString(have.attempt()), have.blocks(), have.complete() ? 1 : 0);
        }
    }

    private static void blocks(Reader reader, int partition, List<MergeModel.Piece> expected) throws IOException {
        List<MergeModel.Piece> found = new ArrayList<>();
        boolean failed = false;
        try (BlockCursor blocks = reader.partition(partition)) {
            while (blocks.next()) {
                found.add(new MergeModel.Piece(blocks.kind(), Sums.of(blocks.payload())));
            }
        } catch (FaroException e) {
            FilesInput.judged(e);
            failed = true;
        }
        int decoded = 0;
        while (decoded < expected.size() && expected.get(decoded).plain() != null) {
            decoded++;
        }
        Broken.unless(found.equals(expected.subList(0, decoded)), "partition " + partition + " has the blocks merged");
        Broken.unless(failed == decoded < expected.size(), "partition " + partition + " ends as its fragments do");
    }
}
