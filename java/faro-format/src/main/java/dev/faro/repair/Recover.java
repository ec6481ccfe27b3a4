package dev.faro.repair;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.Limits;
import dev.faro.internal.storage.FinalNames;
import dev.faro.internal.storage.HeldFile;
import dev.faro.internal.storage.OutputFile;
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

/** Makes a finished output of what a dead writer left, under the final names (PUB-8). */
public final class Recover {
    private final Remains group;
    private final RecoverOptions options;
    private final PublishingLock lock;
    /** The roles whose files do not have their final names. */
    private final List<FileRole> unnamed;

    private Recover(Remains group, OutputName name, RecoverOptions options) {
        this.group = group;
        this.options = options;
        this.unnamed = group.roles().stream().filter(role -> !group.isNamed(role)).toList();
        this.lock = new PublishingLock(group.roles().get(0), name.lock(), Patience.MOST);
    }

    /**
     * Recovers an output.
     *
     * @param name its NAME (PUB-1); without an ending, files of both layouts are looked for
     * @throws FaroException {@code io}: nothing is there, its writer lives, or another output has the final names;
     *     {@code invalid-argument}: several are there, which the error names; what {@link Repair} and {@link Rebuild}
     *     throw. Then every file is as it was
     */
    public static RecoverReport recover(Path name, RecoverOptions options) throws FaroException {
        if (options.fileId() != null && !options.fileId().matches("[0-9a-f]{8}")) {
            throw FaroException.invalidArgument("a file_id's first 8 hexadecimal digits, lower case", options.fileId());
        }
        OutputName output = OutputName.of(name);
        int regions = regionsIfItOpens(output, options.limits());
        if (regions >= 0) {
            return new RecoverReport(Action.NOTHING, null, regions);
        }
        List<HeldFile> taken = new ArrayList<>();
        try {
            Remains group = Remains.choose(Remains.collect(output, taken), output, options.fileId());
            return group == null ? new RecoverReport(Action.NOTHING_SAVED, null, 0)
                    : new Recover(group, output, options).run();
        } finally {
            taken.forEach(HeldFile::close);
        }
    }

    /** Step 1; -1 if it does not. */
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
                // Whatever it is, the next steps find it again.
            }
        }
        return -1;
    }

    /** Steps 6 to 8. */
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
        if (group.isSingle()) {
            return Repair.repairSingle(group.path(FileRole.SINGLE), options.limits(), options.dryRun());
        }
        Path data = group.path(FileRole.DATA);
        if (group.header(FileRole.INDEX) != null) {
            return Repair.repairPair(data, group.path(FileRole.INDEX), options.limits(), options.dryRun());
        }
        // Named as any rebuild names it, so that one that dies here can be made again.
        return Rebuild.rebuild(data, group.temporaryPath(FileRole.INDEX),
                Rebuild.temporaryName(group.finalPath(FileRole.INDEX)),
                RebuildOptions.DEFAULT.withLimits(options.limits()).withDryRun(options.dryRun()));
    }

    private void giveNames() throws FaroException {
        if (!unnamed.isEmpty()) {
            for (FileRole role : group.roles()) {
                if (group.file(role) != null) {
                    // A repair that had nothing to do left them as the writer did.
                    group.file(role).sync();
                }
            }
            giveNamesLocked();
        }
        for (FileRole role : group.roles()) {
            removeSecondName(role);
        }
        OutputFile.syncFolder(group.roles().get(0), group.finalPath(group.roles().get(0)));
    }

    private void giveNamesLocked() throws FaroException {
        FinalNames names = new FinalNames(lock);
        for (FileRole role : unnamed) {
            names.add(role, group.temporaryPath(role), group.finalPath(role), mayReplace(role));
        }
        try {
            lock.holding(() -> {
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

    /** Another writer may have replaced the data file by now, whose index the older one would not fit. */
    private void checkStillNamed() throws FaroException {
        for (FileRole role : group.roles()) {
            if (group.isNamed(role) && !group.file(role).isNamed(group.finalPath(role))) {
                throw new FaroException(ErrorCode.IO, role, group.finalPath(role), FaroException.NO_OFFSET,
                        "the file that was there before", "another writer's", null);
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
                // The output is whole; what stays is what PUB-7 knows.
            }
        }
    }
}
