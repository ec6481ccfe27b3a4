package dev.faro.fuzz;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.Limits;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.repair.Rebuild;
import dev.faro.repair.RebuildOptions;
import dev.faro.repair.Repair;
import dev.faro.repair.RepairOptions;
import dev.faro.repair.RepairReport;
import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;

/** {@code repair}: a dry run first, and then the repair. */
final class RepairTarget implements Target {
    @Override
    public void run(byte[] bytes, Folder folder, Transcript transcript) throws IOException {
        FilesInput input = FilesInput.of(bytes);
        input.write(folder);
        Outcome dry = repair(input, folder, true);
        dry.print(transcript, "dry");
        unchanged(input, folder, "a dry run changes nothing");
        Outcome real = repair(input, folder, false);
        real.print(transcript, "real");
        Broken.unless(dry.isSame(real), "a dry run has the same report as a repair");
        if (real.error != null) {
            unchanged(input, folder, "a refused repair changes nothing");
        } else {
            checkRepaired(input, folder, real.report.action());
        }
        for (String name : new String[] {FilesInput.DATA, FilesInput.INDEX, FilesInput.SINGLE}) {
            byte[] now = folder.read(name);
            if (now != null) {
                boolean data = name.equals(FilesInput.DATA);
                String role = data ? "data" : name.equals(FilesInput.INDEX) ? "index" : "single";
                transcript.line("file", role, now.length, Sums.of(now));
            }
        }
    }

    private record Outcome(RepairReport report, FaroException error) {
        void print(Transcript transcript, String how) {
            if (error != null) {
                transcript.line(how, error);
                return;
            }
            String action = report.action().name().toLowerCase(Locale.ROOT).replace('_', '-');
            transcript.line(how, action, report.regions(), report.dataCut(), report.indexCut(), report.orphaned());
        }

        boolean isSame(Outcome other) {
            return Content.isSame(error, other.error) && java.util.Objects.equals(report, other.report);
        }
    }

    private static Outcome repair(FilesInput input, Folder folder, boolean dry) throws IOException {
        try {
            return new Outcome(report(input, folder, dry), null);
        } catch (FaroException e) {
            boolean expected = needsMore(input) && e.code() == ErrorCode.INVALID_ARGUMENT;
            return new Outcome(null, expected ? e : FilesInput.judged(e));
        }
    }

    /** Whether this is a rebuild of a single file, or of a file with framing arrow. */
    private static boolean needsMore(FilesInput input) {
        boolean arrow = input.first().length >= Seal.HEADER && input.first()[11] == 2;
        return (input.mode() & 1) != 0 && (!input.pair() || arrow);
    }

    private static RepairReport report(FilesInput input, Folder folder, boolean dry) throws FaroException {
        Limits limits = input.limits();
        if ((input.mode() & 1) != 0) {
            if (!input.pair()) {
                throw FaroException.invalidArgument("a pair", "a single file");
            }
            boolean all = (input.mode() & 2) != 0;
            return Rebuild.rebuild(folder.path(FilesInput.DATA), folder.path(FilesInput.INDEX),
                    RebuildOptions.DEFAULT.withSharedToAll(all).withLimits(limits).withDryRun(dry));
        }
        return toLastCommit(input, folder, RepairOptions.DEFAULT.withLimits(limits).withDryRun(dry));
    }

    private static RepairReport toLastCommit(FilesInput input, Folder folder, RepairOptions options)
            throws FaroException {
        return input.pair()
                ? Repair.repairPair(folder.path(FilesInput.DATA), folder.path(FilesInput.INDEX), options)
                : Repair.repairSingle(folder.path(FilesInput.SINGLE), options);
    }

    private static void unchanged(FilesInput input, Folder folder, String property) throws IOException {
        Broken.unless(Arrays.equals(folder.read(input.firstName()), input.first())
                && (!input.pair() || Arrays.equals(folder.read(FilesInput.INDEX), input.second()))
                && folder.count() == (input.pair() ? 2 : 1), property);
    }

    private static void checkRepaired(FilesInput input, Folder folder, RepairReport.Action action) throws IOException {
        boolean rebuilt = action == RepairReport.Action.REBUILT;
        Limits limits = input.limits();
        boolean kept = false;
        try (Reader reader = input.reader(folder, ReaderOptions.DEFAULT.withLimits(limits))) {
            kept = !rebuilt && (reader.footer().statistics() != null || reader.header().producer() == -1);
            if (action != RepairReport.Action.NOTHING) {
                Check.check(reader, rebuilt ? CheckLevel.CHECKSUMS : CheckLevel.STRUCTURE);
            }
        } catch (FaroException e) {
            // An existing footer is kept, with statistics that were not checked. Neither were the runs of regions.
            boolean allowed = kept && e.code() == ErrorCode.INCONSISTENT_INDEX;
            Broken.unless(allowed, "a repaired output passes a check: " + e);
        }
        byte[] first = folder.read(input.firstName());
        byte[] second = folder.read(input.secondName());
        RepairReport again = toLastCommit(input, folder, RepairOptions.DEFAULT.withLimits(limits));
        Broken.unless(again.action() == RepairReport.Action.NOTHING, "a second repair has nothing to do");
        Broken.unless(Arrays.equals(first, folder.read(input.firstName()))
                && Arrays.equals(second, folder.read(input.secondName())), "a second repair changes nothing");
    }
}
