package dev.faro.repair;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.internal.bytes.HeaderBytes;
import dev.faro.internal.bytes.Tail;
import dev.faro.internal.follow.Walk;
import dev.faro.internal.message.Directory;
import dev.faro.internal.reader.FileSet;
import dev.faro.internal.reader.Opened;
import dev.faro.internal.storage.LocalOutputFile;
import dev.faro.internal.writer.Committer;
import dev.faro.repair.RepairReport.Action;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Makes a finished output from an unfinished one, with exactly the committed regions (REP-1 to REP-4). */
public final class Repair {
    private Repair() {}

    /**
     * Repairs an output in place, by NAME (PUB-1).
     *
     * @throws FaroException a fault other than an unfinished end, or {@code invalid-argument} if both layouts exist.
     *     The files are unchanged then, except after {@code io} while they are written; the call can then be repeated
     */
    public static RepairReport repair(Path name, RepairOptions options) throws FaroException {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(options, "options");
        try (FileSet files = FileSet.open(name)) {
            return repair(files, options);
        }
    }

    /**
     * Repairs a pair in place.
     *
     * @throws FaroException a fault other than an unfinished end, as for {@link #repair(Path, RepairOptions)}
     */
    public static RepairReport repairPair(Path data, Path index, RepairOptions options) throws FaroException {
        Objects.requireNonNull(data, "data");
        Objects.requireNonNull(index, "index");
        Objects.requireNonNull(options, "options");
        try (FileSet files = FileSet.openPair(data, index)) {
            return repair(files, options);
        }
    }

    /**
     * Repairs a single file in place.
     *
     * @throws FaroException a fault other than an unfinished end, as for {@link #repair(Path, RepairOptions)}
     */
    public static RepairReport repairSingle(Path file, RepairOptions options) throws FaroException {
        Objects.requireNonNull(file, "file");
        Objects.requireNonNull(options, "options");
        try (FileSet files = FileSet.openSingle(file)) {
            return repair(files, options);
        }
    }

    private static RepairReport repair(FileSet files, RepairOptions options) throws FaroException {
        HeaderBytes.checkRewritable(files.header(), files.index());
        long dataSize = files.isSingle() ? 0 : files.data().size();
        long indexSize = files.index().size();
        try {
            Directory directory = Opened.of(files, options.limits()).footer().directory();
            return new RepairReport(
                    Action.NOTHING, directory.size(), -1, dataSize, 0, indexSize, 0, 0, Optional.empty(), List.of());
        } catch (FaroException e) {
            if (e.code() == ErrorCode.IO) {
                throw e;
            }
            // Whatever the fault is, the walk decides: a broken tail is repaired, and any other fault is found again.
        }
        Walk walk = new Walk(files, options.limits(), true);
        walk.open();
        walk.advance();
        long dataEnd = files.isSingle() ? 0 : walk.dataEnd();
        long indexEnd = walk.metadataEnd();
        if (hasTail(files, walk, indexSize)) {
            indexEnd = indexSize;
        }
        if (!options.dryRun()) {
            mend(files, walk, dataEnd, indexEnd);
        }
        return new RepairReport(Action.LAST_COMMIT, walk.directory().size(), -1, dataEnd, dataSize - dataEnd, indexEnd,
                indexSize - indexEnd, 0, Optional.empty(), List.of());
    }

    /** Whether the footer that the walk accepted has its tail and nothing after it. */
    private static boolean hasTail(FileSet files, Walk walk, long indexSize) throws FaroException {
        if (walk.footer() == null || indexSize != walk.metadataEnd() + Tail.SIZE) {
            return false;
        }
        try {
            return files.index().readTail(walk.metadataEnd()).equals(walk.tail());
        } catch (FaroException e) {
            if (e.code() == ErrorCode.CHECKSUM) {
                return false;
            }
            throw e;
        }
    }

    private static void mend(FileSet files, Walk walk, long dataEnd, long indexEnd) throws FaroException {
        if (!files.isSingle()) {
            try (LocalOutputFile data = LocalOutputFile.cut(FileRole.DATA, files.data().path(), dataEnd)) {
                data.sync();
            }
        }
        if (walk.footer() != null && indexEnd > walk.metadataEnd()) {
            return;
        }
        try (LocalOutputFile index = LocalOutputFile.cut(files.index().role(), files.index().path(), indexEnd)) {
            if (walk.footer() != null) {
                Committer.tail(index, walk.tail());
            } else {
                Committer committer = new Committer(index, files.header().fileId(), walk.directory(), walk.sequence());
                committer.footer(files.isSingle(), dataEnd, null, null, mark("last-commit"), null);
            }
            index.sync();
        }
    }

    /** The only property of a repaired file. */
    static SortedMap<byte[], byte[]> mark(String how) {
        SortedMap<byte[], byte[]> properties = new TreeMap<>(Arrays::compareUnsigned);
        properties.put("faro.repair".getBytes(StandardCharsets.UTF_8), how.getBytes(StandardCharsets.UTF_8));
        return properties;
    }
}
