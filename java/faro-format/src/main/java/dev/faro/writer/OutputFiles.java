package dev.faro.writer;

import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.file.OutputFile;
import dev.faro.header.Header;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The files of an output while they are written: their names, their publication, their removal (WRT-4, WRT-6). */
final class OutputFiles {
    private final boolean follow;
    private final boolean overwrite;
    private final List<Target> targets = new ArrayList<>();

    private static final class Target {
        final OutputFile file;
        final Path finalPath;
        boolean published;

        Target(OutputFile file, Path finalPath) {
            this.file = file;
            this.finalPath = finalPath;
        }
    }

    private OutputFiles(WriterOptions options) {
        this.follow = options.follow;
        this.overwrite = options.overwrite;
    }

    /**
     * The names of an output.
     *
     * @param name path of the output, without extension
     */
    static List<Path> named(Path name, Layout layout) throws FaroException {
        if (name.getFileName() == null) {
            throw FaroException.invalidArgument("a path with a name", name);
        }
        Stream<String> extensions = layout == Layout.SINGLE ? Stream.of(".faro") : Stream.of(".data", ".index");
        return extensions.map(extension -> name.resolveSibling(name.getFileName() + extension)).toList();
    }

    /**
     * Makes the files, empty.
     *
     * @param paths the final names: data and index, or the single file
     */
    static OutputFiles create(List<Path> paths, Header header, WriterOptions options) throws FaroException {
        OutputFiles files = new OutputFiles(options);
        for (int i = 0; i < paths.size(); i++) {
            files.refuseExisting(role(paths, i), paths.get(i));
        }
        try {
            for (int i = 0; i < paths.size(); i++) {
                Path path = paths.get(i);
                Path first = options.follow ? path : OutputFile.temporaryName(path, header.fileId());
                files.targets.add(new Target(OutputFile.create(role(paths, i), first), path));
            }
        } catch (FaroException | RuntimeException | Error e) {
            files.discardAfter(e);
            throw e;
        }
        return files;
    }

    private static FileRole role(List<Path> paths, int i) {
        return paths.size() == 1 ? FileRole.SINGLE : i == 0 ? FileRole.DATA : FileRole.INDEX;
    }

    private void refuseExisting(FileRole role, Path path) throws FaroException {
        try {
            if (!overwrite && Files.exists(path)) {
                throw new FileAlreadyExistsException(path.toString());
            }
            if (overwrite && follow) {
                // A new file under the name, so that who reads the old one still has it.
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw FaroException.io(role, path, "no file of that name", e);
        }
    }

    /** The data or single file. */
    OutputFile data() {
        return targets.get(0).file;
    }

    /** The index or single file. */
    OutputFile index() {
        return targets.get(targets.size() - 1).file;
    }

    boolean isSingle() {
        return targets.size() == 1;
    }

    /**
     * Writes what is left, closes the files and gives them their names, data first. When that fails nothing is left that
     * looks finished, as far as the system lets us (WRT-6).
     *
     * @param end of the index or single file without its tail
     */
    void publish(long end, boolean sync) throws FaroException {
        try {
            publish(sync);
        } catch (FaroException | RuntimeException | Error e) {
            // An interrupt that is pending would close every channel that this needs.
            boolean interrupted = Thread.interrupted();
            takeBack(end, e);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            throw e;
        }
    }

    private void takeBack(long end, Throwable error) {
        try {
            if (follow && !tryCut(end, error)) {
                index().remove(index().path());
            }
            for (Target target : targets) {
                if (target.published) {
                    Files.move(target.finalPath, target.file.path(), StandardCopyOption.ATOMIC_MOVE);
                    target.published = false;
                }
            }
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

    private void publish(boolean sync) throws FaroException {
        for (Target target : targets) {
            if (sync) {
                target.file.sync();
            } else {
                target.file.flush();
            }
        }
        if (follow && sync) {
            // While they are open: to cut off the tail their names are not needed then, which may lead nowhere.
            syncFolder();
        }
        for (Target target : targets) {
            target.file.close();
        }
        if (follow) {
            return;
        }
        for (Target target : targets) {
            refuseExisting(target.file.role(), target.finalPath);
        }
        for (Target target : targets) {
            rename(target);
        }
        if (sync) {
            syncFolder();
        }
    }

    private void rename(Target target) throws FaroException {
        try {
            Files.move(target.file.path(), target.finalPath, StandardCopyOption.ATOMIC_MOVE);
            target.published = true;
        } catch (IOException e) {
            throw FaroException.io(target.file.role(), target.finalPath, "to give the file its name", e);
        }
    }

    private void syncFolder() throws FaroException {
        OutputFile.syncFolder(targets.get(0).file.role(), targets.get(0).finalPath);
    }

    /**
     * Removes the files, those too that were given their names already, and closes them.
     *
     * @throws FaroException {@code io} for the last that could not be removed; the others are
     */
    void discard() throws FaroException {
        FaroException failure = null;
        for (Target target : targets) {
            Path path = target.published ? target.finalPath : target.file.path();
            try {
                try (target.file) {
                    target.file.remove(path);
                }
            } catch (IOException e) {
                failure = FaroException.io(target.file.role(), path, "to remove the file", e);
            }
        }
        targets.clear();
        if (failure != null) {
            throw failure;
        }
    }

    private void discardAfter(Throwable error) {
        try {
            discard();
        } catch (FaroException e) {
            error.addSuppressed(e);
        }
    }
}
