package dev.faro.repair;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.Limits;
import dev.faro.internal.storage.FinalNames;
import dev.faro.internal.storage.HeldFile;
import dev.faro.internal.storage.LocalOutputFile;
import dev.faro.internal.storage.OutputName;
import dev.faro.internal.storage.Patience;
import dev.faro.internal.storage.PublishingLock;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.repair.RecoverReport.Action;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Makes a finished output from the files that a dead writer left, and gives it the final names (PUB-8). */
public final class Recover {
    private final Group group;
    private final RecoverOptions options;
    private final PublishingLock lock;
    /** The roles of the files without final names. */
    private final List<FileRole> unnamed;

    private Recover(Group group, OutputName name, RecoverOptions options) {
        this.group = group;
        this.options = options;
        this.unnamed = group.roles().stream().filter(role -> !group.isNamed(role)).toList();
        this.lock = new PublishingLock(group.roles().get(0), name.lock(), Patience.MOST);
    }

    /**
     * Recovers an output.
     *
     * @param name the NAME of the output (PUB-1); without an ending, files of both layouts are searched
     * @throws FaroException {@code io} if there are no files, their writer lives, or another output has the final
     *     names; {@code invalid-argument} if there are files of several outputs, which the error lists; or an error of
     *     {@link Repair} or {@link Rebuild}. The files are unchanged then, except after {@code io} while they are
     *     written or get their names; the call can then be repeated
     */
    public static RecoverReport recover(Path name, RecoverOptions options) throws FaroException {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(options, "options");
        if (options.fileId() != null && !options.fileId().matches("[0-9a-f]{8}")) {
            throw FaroException.invalidArgument(
                    "the first 8 hexadecimal digits of a file_id, in lower case", options.fileId());
        }
        OutputName output = OutputName.of(name);
        int regions = regionsIfItOpens(output, options.limits());
        if (regions >= 0) {
            return new RecoverReport(Action.NOTHING, null, regions);
        }
        List<HeldFile> taken = new ArrayList<>();
        try {
            Group group = Group.choose(Group.collect(output, taken), output, options.fileId());
            return group == null ? new RecoverReport(Action.NOTHING_SAVED, null, 0)
                    : new Recover(group, output, options).run();
        } finally {
            taken.forEach(HeldFile::close);
        }
    }

    /** Makes step 1: the number of regions if the output opens, otherwise -1. */
    private static int regionsIfItOpens(OutputName name, Limits limits) {
        for (boolean single : new boolean[] {true, false}) {
            if (name.ending() == (single ? OutputName.Ending.PAIRED : OutputName.Ending.SINGLE)) {
                continue;
            }
            List<Path> files = name.files(single);
            ReaderOptions options = ReaderOptions.DEFAULT.withLimits(limits);
            try (Reader reader = single ? Reader.openSingle(files.get(0), options)
                    : Reader.openPair(files.get(0), files.get(1), options)) {
                return reader.regionCount();
            } catch (FaroException e) {
                // The next steps find the fault again.
            }
        }
        return -1;
    }

    /** Makes steps 6 to 8. */
    private RecoverReport run() throws FaroException {
        for (FileRole role : unnamed) {
            if (!mayReplace(role)) {
                FinalNames.checkFree(role, group.finalPath(role));
            }
        }
        RepairReport repaired = repair();
        if (!options.dryRun()) {
            giveNames();
        }
        Action action = switch (repaired.action()) {
            case NOTHING -> unnamed.isEmpty() ? Action.NOTHING : Action.PUBLISHED;
            case LAST_COMMIT -> Action.LAST_COMMIT;
            case REBUILT -> Action.REBUILT;
        };
        return new RecoverReport(action, action == Action.NOTHING ? null : group.x(), repaired.regions());
    }

    private boolean mayReplace(FileRole role) {
        return options.overwrite() || role == FileRole.INDEX && group.isNamed(FileRole.DATA);
    }

    private RepairReport repair() throws FaroException {
        RepairOptions repair = RepairOptions.DEFAULT.withLimits(options.limits()).withDryRun(options.dryRun());
        if (group.isSingle()) {
            return Repair.repairSingle(group.path(FileRole.SINGLE), repair);
        }
        Path data = group.path(FileRole.DATA);
        if (group.header(FileRole.INDEX) != null) {
            return Repair.repairPair(data, group.path(FileRole.INDEX), repair);
        }
        // The temporary name is that of any rebuild, so that a rebuild that dies here can be repeated.
        return Rebuild.rebuild(data, group.temporaryPath(FileRole.INDEX),
                Rebuild.temporaryName(group.finalPath(FileRole.INDEX)),
                RebuildOptions.DEFAULT.withLimits(options.limits()).withDryRun(options.dryRun()));
    }

    private void giveNames() throws FaroException {
        if (!unnamed.isEmpty()) {
            for (FileRole role : group.roles()) {
                if (group.file(role) != null) {
                    // If the repair had nothing to do, the files may not be synced yet.
                    group.file(role).sync();
                }
            }
            giveNamesLocked();
        }
        for (FileRole role : group.roles()) {
            removeSecondName(role);
        }
        LocalOutputFile.syncFolder(group.roles().get(0), group.finalPath(group.roles().get(0)));
    }

    private void giveNamesLocked() throws FaroException {
        FinalNames names = new FinalNames(lock);
        try {
            lock.holding(() -> {
                for (FileRole role : unnamed) {
                    names.add(role, group.temporaryPath(role), group.finalPath(role), mayReplace(role));
                }
                checkStillNamed();
                names.give();
            });
        } catch (IOException e) {
            FaroException failure = e instanceof FaroException known ? known : FaroException.io(
                    unnamed.get(0), group.finalPath(unnamed.get(0)), "to give the file its name", e);
            try {
                names.takeBack(false);
            } catch (IOException again) {
                failure.addSuppressed(again);
            }
            throw failure;
        }
    }

    /** Checks that the data file was not replaced by another writer: this index would not fit that file. */
    private void checkStillNamed() throws FaroException {
        for (FileRole role : group.roles()) {
            if (group.isNamed(role) && !group.file(role).isNamed(group.finalPath(role))) {
                throw new FaroException(ErrorCode.IO, role, group.finalPath(role), FaroException.NO_OFFSET,
                        "the file that was there before", "a file of another writer", null);
            }
        }
    }

    private void removeSecondName(FileRole role) throws FaroException {
        HeldFile file = group.file(role);
        Path second = group.temporaryPath(role);
        if (file != null && file.isNamed(second) && file.isNamed(group.finalPath(role))) {
            try {
                Files.deleteIfExists(second);
            } catch (IOException e) {
                // The output is complete. PUB-7 covers the second name that stays.
            }
        }
    }
}
