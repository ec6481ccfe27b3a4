package dev.faro.writer;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.FileRole;
import dev.faro.internal.bytes.HeaderBytes;
import dev.faro.internal.reader.FileSet;
import dev.faro.internal.storage.FinalNames;
import dev.faro.internal.storage.InputFile;
import dev.faro.internal.storage.LocalOutputFile;
import dev.faro.internal.storage.OutputName;
import dev.faro.internal.storage.PublishingLock;
import dev.faro.internal.writer.Committer;
import dev.faro.storage.LocalFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The files of an output in a file system. */
final class LocalFiles extends OutputFiles {
    /** The maximum size of a file whose bytes stay in memory for a reader of the output, in bytes. */
    private static final int KEPT_BYTES = 16 << 10;

    private final boolean follow;
    private final boolean overwrite;
    private final PublishingLock lock;
    private final FinalNames names;
    private final List<Target> targets = new ArrayList<>();

    private static final class Target {
        final LocalOutputFile file;
        final Path finalPath;
        /** All bytes of a small file, for a reader of the output; null if there is no such reader. */
        ByteBuffer whole;

        Target(LocalOutputFile file, Path finalPath) {
            this.file = file;
            this.finalPath = finalPath;
        }
    }

    private LocalFiles(FileRole role, Path lock, WriterOptions options) {
        this.follow = options.follow;
        this.overwrite = options.overwrite;
        this.lock = new PublishingLock(role, lock, options.patience);
        this.names = new FinalNames(this.lock);
    }

    /**
     * Makes the files, empty.
     *
     * @param paths the final names: data and index, or the single file
     * @param others the final names of the other layout, if they must be free
     */
    static LocalFiles create(List<Path> paths, List<Path> others, FileHeader header, WriterOptions options)
            throws FaroException {
        LocalFiles files = new LocalFiles(role(paths, 0), OutputName.of(paths.get(0)).lock(), options);
        for (Path other : others) {
            files.names.addOther(role(others, others.indexOf(other)), other);
        }
        try {
            if (options.follow && options.overwrite) {
                files.lock.holding(() -> files.createAnew(paths));
            } else if (options.follow) {
                // Java learns the number of a file only from its name, so the lock keeps other writers from replacing
                // the file before.
                files.lock.holding(() -> files.create(paths, header));
            } else {
                files.create(paths, header);
            }
        } catch (IOException e) {
            FaroException failure = e instanceof FaroException known ? known
                    : FaroException.io(role(paths, 0), paths.get(0), "a new file", e);
            files.discardAfter(failure);
            throw failure;
        } catch (RuntimeException | Error e) {
            files.discardAfter(e);
            throw e;
        }
        return files;
    }

    @Override
    void begin(FileHeader header, Committer committer, byte[] schema) throws FaroException {
        super.begin(header, committer, schema);
        if (follow) {
            // Followers see them.
            data().flush();
            index().flush();
        }
    }

    private void create(List<Path> paths, FileHeader header) throws FaroException {
        if (!overwrite) {
            checkFree(paths);
        }
        for (int i = 0; i < paths.size(); i++) {
            Path path = paths.get(i);
            FileRole role = role(paths, i);
            Path first = follow ? path : LocalOutputFile.temporaryName(path, header.fileId());
            Target target = new Target(LocalOutputFile.create(role, first), path);
            targets.add(target);
            if (!follow) {
                names.add(role, first, path, overwrite, target.file.key());
            }
        }
    }

    /** Makes new files with the final names, so that readers of the older files keep those; needs the lock (PUB-4). */
    private void createAnew(List<Path> paths) throws FaroException {
        for (int i = 0; i < paths.size(); i++) {
            try {
                Files.deleteIfExists(paths.get(i));
            } catch (IOException e) {
                throw FaroException.io(role(paths, i), paths.get(i), "to remove the older file", e);
            }
        }
        for (int i = 0; i < paths.size(); i++) {
            // A writer that does not overwrite may have taken the name by now.
            targets.add(new Target(LocalOutputFile.create(role(paths, i), paths.get(i), true), paths.get(i)));
        }
    }

    /** Refuses final names that exist: data and index, or the single file (WRT-4). */
    static void checkFree(List<Path> paths) throws FaroException {
        for (int i = 0; i < paths.size(); i++) {
            FinalNames.checkFree(role(paths, i), paths.get(i));
        }
    }

    private static FileRole role(List<Path> paths, int i) {
        return paths.size() == 1 ? FileRole.SINGLE : i == 0 ? FileRole.DATA : FileRole.INDEX;
    }

    @Override
    LocalOutputFile data() {
        return targets.get(0).file;
    }

    @Override
    LocalOutputFile index() {
        return targets.get(targets.size() - 1).file;
    }

    @Override
    List<Path> paths() {
        return targets.stream().map(target -> target.finalPath).toList();
    }

    @Override
    List<String> names() {
        return targets.stream().map(target -> target.finalPath.toString()).toList();
    }

    @Override
    void publish(long end, boolean sync, boolean keepOpen) throws FaroException {
        try {
            publish(sync, keepOpen);
        } catch (FaroException | RuntimeException | Error e) {
            uninterrupted(() -> takeBack(end, e));
            throw e;
        }
    }

    /** Runs a step without a pending interrupt, which would close every channel that the step needs. */
    private static void uninterrupted(Runnable step) {
        boolean interrupted = Thread.interrupted();
        try {
            step.run();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void takeBack(long end, Throwable error) {
        try {
            if (follow && !tryCut(end, error)) {
                removeFinal(List.of(targets.get(targets.size() - 1)));
            }
            names.takeBack(true);
        } catch (IOException e) {
            error.addSuppressed(e);
        }
    }

    private boolean tryCut(long end, Throwable error) {
        try {
            index().takeBack(end);
            return true;
        } catch (IOException e) {
            error.addSuppressed(e);
            return false;
        }
    }

    @Override
    void flushData(boolean keepOpen) throws FaroException {
        if (keepOpen && !isSingle()) {
            keep(targets.get(0));
        }
        super.flushData(keepOpen);
    }

    private static void keep(Target target) {
        if (target.whole == null) {
            target.whole = target.file.unwritten(KEPT_BYTES);
        }
    }

    private void publish(boolean sync, boolean keepOpen) throws FaroException {
        for (Target target : targets) {
            if (keepOpen) {
                keep(target);
            }
            target.file.complete(sync);
        }
        if (!follow) {
            names.give();
        }
        if (sync) {
            // Synced while the files are open: if this fails, a tail can be cut off without the names, which may be
            // gone.
            LocalOutputFile.syncFolder(data().role(), targets.get(0).finalPath);
        }
        // Only now, because others take such files for a dead writer's (PUB-6).
        for (Target target : targets) {
            if (keepOpen) {
                target.file.release();
            } else {
                target.file.close();
            }
        }
    }

    @Override
    FileSet handOver(FileHeader header) {
        InputFile data = handOver(targets.get(0), header.withKind(isSingle() ? FileKind.SINGLE : FileKind.DATA));
        return new FileSet(header, isSingle() ? data : handOver(targets.get(1), header), data);
    }

    private static InputFile handOver(Target target, FileHeader header) {
        ByteBuffer beginning = target.whole == null ? HeaderBytes.encode(header) : target.whole;
        return new InputFile(
                target.file.role(), LocalFile.of(target.file.handOver(target.finalPath, beginning)));
    }

    /** Removes final names that still belong to these files, the index first; needs the lock (PUB-4). */
    private void removeFinal(List<Target> files) throws IOException {
        boolean any = false;
        for (Target target : files) {
            any |= target.file.has(target.finalPath);
        }
        if (any) {
            lock.holding(() -> {
                for (int i = files.size() - 1; i >= 0; i--) {
                    files.get(i).file.remove(files.get(i).finalPath);
                }
            });
        }
    }

    @Override
    void discard() throws FaroException {
        FaroException[] failure = {null};
        uninterrupted(() -> failure[0] = tryDiscard());
        targets.clear();
        if (failure[0] != null) {
            throw failure[0];
        }
    }

    private FaroException tryDiscard() {
        FaroException failure = null;
        for (Target target : targets) {
            if (!target.file.path().equals(target.finalPath)) {
                failure = attempt(target, () -> target.file.remove(target.file.path()), failure);
            }
        }
        if (!targets.isEmpty() && (follow || names.anyGiven())) {
            failure = attempt(targets.get(0), () -> removeFinal(targets), failure);
        }
        for (Target target : targets) {
            failure = attempt(target, target.file::close, failure);
        }
        return failure;
    }

    private static FaroException attempt(Target target, PublishingLock.Work work, FaroException before) {
        try {
            work.run();
        } catch (IOException | RuntimeException e) {
            FaroException failure =
                    FaroException.io(target.file.role(), target.file.path(), "to remove the file", e);
            if (before == null) {
                return failure;
            }
            before.addSuppressed(failure);
        }
        return before;
    }
}
