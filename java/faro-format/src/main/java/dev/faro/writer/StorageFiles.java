package dev.faro.writer;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileRole;
import dev.faro.internal.reader.FileSet;
import dev.faro.internal.storage.InputFile;
import dev.faro.internal.storage.OutputFile;
import dev.faro.internal.storage.StorageOutputFile;
import dev.faro.storage.Destination;
import dev.faro.storage.StoredFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The files of an output in a {@link Destination} (PUB-10). */
final class StorageFiles extends OutputFiles {
    private final Destination destination;
    private final boolean overwrite;
    /** The roles of the other layout, whose names must be free as well if the layout was decided late (WRT-13). */
    private final List<FileRole> others;
    private final List<StorageOutputFile> files = new ArrayList<>();

    private StorageFiles(Destination destination, List<FileRole> others, boolean overwrite) {
        this.destination = destination;
        this.others = others;
        this.overwrite = overwrite;
    }

    /** Refuses names that exist, as far as the storage knows them (WRT-4). */
    static void checkFree(Destination destination, List<FileRole> roles) throws FaroException {
        for (FileRole role : roles) {
            StorageOutputFile.checkFree(role, destination);
        }
    }

    /** Makes the files, empty. */
    static StorageFiles create(Destination destination, Layout layout, WriterOptions options) throws FaroException {
        List<FileRole> roles = roles(layout);
        List<FileRole> others = options.singleBelow == 0 ? List.of()
                : FileRole.OF_OUTPUTS.stream().filter(role -> !roles.contains(role)).toList();
        StorageFiles made = new StorageFiles(destination, others, options.overwrite);
        try {
            if (!options.overwrite) {
                checkFree(destination, roles);
                checkFree(destination, others);
            }
            for (FileRole role : roles) {
                made.files.add(StorageOutputFile.create(role, destination, options.overwrite));
            }
            return made;
        } catch (FaroException | RuntimeException | Error e) {
            made.discardAfter(e);
            throw e;
        }
    }

    @Override
    OutputFile data() {
        return files.get(0);
    }

    @Override
    OutputFile index() {
        return files.get(files.size() - 1);
    }

    @Override
    List<Path> paths() {
        return List.of();
    }

    @Override
    List<String> names() {
        return files.stream().map(StorageOutputFile::name).toList();
    }

    @Override
    void publish(long end, boolean sync, boolean keepOpen) throws FaroException {
        try {
            for (StorageOutputFile file : files) {
                file.complete(sync);
            }
            checkFree(destination, others);
            for (StorageOutputFile file : files) {
                file.publish(overwrite);
            }
            if (!keepOpen) {
                close();
            }
        } catch (FaroException | RuntimeException | Error e) {
            FaroException failure = remove();
            if (failure != null) {
                e.addSuppressed(failure);
            }
            throw e;
        }
    }

    /** Removes the files, the index first, because it is the commit. */
    private FaroException remove() {
        FaroException failure = null;
        for (int i = files.size() - 1; i >= 0; i--) {
            StorageOutputFile file = files.get(i);
            failure = attempt(file, file::remove, failure);
        }
        return failure;
    }

    private interface Work {
        void run() throws IOException;
    }

    private static FaroException attempt(StorageOutputFile file, Work work, FaroException before) {
        try {
            work.run();
        } catch (IOException | RuntimeException e) {
            FaroException failure = file.failed("to remove the file", e);
            if (before == null) {
                return failure;
            }
            before.addSuppressed(failure);
        }
        return before;
    }

    private void close() throws FaroException {
        for (StorageOutputFile file : files) {
            file.close();
        }
    }

    @Override
    FileSet handOver(FileHeader header) throws FaroException {
        List<StoredFile> opened = new ArrayList<>();
        try {
            for (StorageOutputFile file : files) {
                opened.add(file.open());
            }
            close();
        } catch (FaroException | RuntimeException | Error e) {
            for (StoredFile file : opened) {
                FileSet.closeAfter(e, file);
            }
            for (StorageOutputFile file : files) {
                FileSet.closeAfter(e, file);
            }
            throw e;
        }
        InputFile data = new InputFile(data().role(), opened.get(0));
        return new FileSet(header, isSingle() ? data : new InputFile(FileRole.INDEX, opened.get(1)), data);
    }

    @Override
    void discard() throws FaroException {
        FaroException failure = remove();
        for (StorageOutputFile file : files) {
            failure = attempt(file, file::close, failure);
        }
        files.clear();
        if (failure != null) {
            throw failure;
        }
    }
}
