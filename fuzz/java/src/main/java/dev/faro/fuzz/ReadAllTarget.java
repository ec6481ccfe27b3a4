package dev.faro.fuzz;

import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.check.CheckReport;
import dev.faro.reader.Lookup;
import dev.faro.reader.Reader;
import dev.faro.reader.RecordCursor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** {@code read_all}: every partition, all partitions as one range, and the three levels of {@code check}. */
final class ReadAllTarget implements Target {
    @Override
    public void run(byte[] bytes, Folder folder, Transcript transcript) throws IOException {
        FilesInput input = FilesInput.of(bytes);
        input.write(folder);
        Reader opened;
        try {
            opened = input.reader(folder);
        } catch (FaroException e) {
            transcript.line("open", FilesInput.judged(e));
            return;
        }
        try (Reader reader = opened) {
            transcript.line("open", reader.regionCount());
            List<Integer> partitions = Content.partitions(reader.header());
            List<Content> contents = read(reader, partitions, input, transcript);
            List<Content> lookedUp = lookedUp(input, folder, partitions);
            if (check(reader, transcript)) {
                for (int i = 0; i < contents.size(); i++) {
                    Broken.unless(contents.get(i).error() == null, "an output that passes a check can be read: "
                            + contents.get(i).error());
                    records(reader, partitions.get(i));
                    Broken.unless(contents.get(i).isSame(lookedUp.get(i)), "direct lookup reads the same blocks");
                }
            }
        }
    }

    private static List<Content> read(Reader reader, List<Integer> partitions, FilesInput input,
            Transcript transcript) throws IOException {
        long maxPlain = input.limits().maxPlainSize();
        List<Content> contents = new ArrayList<>();
        List<List<Long>> inRange = new ArrayList<>();
        for (int partition : partitions) {
            Content content = Content.ofPartition(reader, partition, maxPlain);
            content.print(transcript, "partition", partition);
            contents.add(content);
            inRange.add(new ArrayList<>());
        }
        Content range = Content.ofRange(reader, maxPlain, partitions, inRange);
        range.print(transcript, "range");
        for (int i = 0; i < contents.size(); i++) {
            // If one of them ends in an error, the other may end in one too, at another place.
            boolean same = contents.get(i).error() == null && contents.get(i).blocks().equals(inRange.get(i));
            Broken.unless(range.error() != null || same,
                    "partition " + partitions.get(i) + " reads the same in a range");
        }
        return contents;
    }

    /** Reads the partitions by direct lookup. Incomplete messages are refused, or read. */
    private static List<Content> lookedUp(FilesInput input, Folder folder, List<Integer> partitions)
            throws IOException {
        List<Content> contents = new ArrayList<>();
        try (Reader reader = input.reader(folder, input.options().withLookup(Lookup.DIRECT))) {
            for (int partition : partitions) {
                contents.add(Content.ofPartition(reader, partition, input.limits().maxPlainSize()));
            }
        } catch (FaroException e) {
            throw new Broken("an output that was opened can be opened again: " + e);
        }
        return contents;
    }

    /** Whether all levels of check pass. */
    private static boolean check(Reader reader, Transcript transcript) throws IOException {
        FaroException failure = null;
        boolean structure = true;
        for (CheckLevel level : CheckLevel.values()) {
            String name = level.name().toLowerCase(Locale.ROOT);
            try {
                CheckReport result = Check.check(reader, level);
                Broken.unless(failure == null, "if a level passes, so do the levels before it: " + name);
                Broken.unless(result.regions() == reader.regionCount(), "check reports the number of regions");
                transcript.line("check", name, result.regions(), result.blocks() < 0 ? "-" : result.blocks());
            } catch (FaroException e) {
                // All levels report a fault of the structure.
                Broken.unless(structure || Content.isSame(failure, e), "all levels report the same first fault: " + e);
                failure = e;
                structure &= level != CheckLevel.STRUCTURE;
                transcript.line("check", name, FilesInput.judged(e));
            }
        }
        return failure == null;
    }

    private static void records(Reader reader, int partition) throws IOException {
        if (reader.header().framing() == Framing.OPAQUE) {
            return;
        }
        try (RecordCursor records = reader.records(partition)) {
            while (records.next()) {
                Broken.unless(records.record() != null, "a record");
            }
        } catch (FaroException e) {
            throw new Broken("records of an output that passes a check can be read: " + e);
        }
    }
}
