package dev.faro.hadoop;

import dev.faro.FaroException;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.storage.StoredOutput;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Objects;
import java.util.Set;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Opens outputs of Hadoop file systems by NAME (PUB-1). */
public final class HadoopOutputs {
    private static final String SINGLE = ".faro";
    private static final String DATA = ".data";
    private static final String INDEX = ".index";
    /** What the first read of an index file or single file has, in bytes. */
    private static final int LAST_OF_INDEX = 1 << 20;
    private static final int LAST_OF_SINGLE = 64 << 10;

    private HadoopOutputs() {}

    /**
     * Opens an output: {@code NAME.faro}, or {@code NAME.data} and {@code NAME.index}, whichever exists. If
     * {@code name} ends with {@code .faro}, {@code .data} or {@code .index}, the ending says which layout to open. The
     * file system stays open when the reader is closed.
     *
     * <p>Besides one request for the status of each file, a pair with an index of at most 1 MiB needs one read of each
     * file; a single file one, or two if it has more than 64 KiB. A NAME without ending needs one or two more requests,
     * which find nothing.
     *
     * @throws FaroException the first check of OPN-1 that fails; {@code io}; or {@code invalid-argument} if
     *     {@code name} is not a NAME, or both layouts exist
     */
    public static Reader open(FileSystem fileSystem, String name, ReaderOptions options) throws FaroException {
        Objects.requireNonNull(options, "options");
        return Reader.openStored(find(fileSystem, name), options);
    }

    /**
     * Finds the files of an output, as {@link #open} does, for {@link Reader#openStored} or
     * {@link dev.faro.check.Check}. Their contents are not read yet.
     *
     * @throws FaroException {@code io}, or {@code invalid-argument} as {@link #open} throws it
     */
    public static StoredOutput find(FileSystem fileSystem, String name) throws FaroException {
        Objects.requireNonNull(fileSystem, "fileSystem");
        Objects.requireNonNull(name, "name");
        Path path = path(name);
        String last = path.getName();
        boolean single = last.endsWith(SINGLE);
        boolean paired = last.endsWith(DATA) || last.endsWith(INDEX);
        String base = single || paired ? last.substring(0, last.lastIndexOf('.')) : last;
        if (Set.of("", ".", "..").contains(base)) {
            throw FaroException.invalidArgument("the NAME of an output", name);
        }
        Path singlePath = sibling(path, base + SINGLE);
        Path dataPath = sibling(path, base + DATA);
        Path indexPath = sibling(path, base + INDEX);
        if (single) {
            return single(new HadoopFile(fileSystem, singlePath));
        }
        if (paired) {
            return paired(new HadoopFile(fileSystem, dataPath), new HadoopFile(fileSystem, indexPath));
        }
        FileStatus singleFile = statusOf(fileSystem, singlePath);
        FileStatus data = statusOf(fileSystem, dataPath);
        FileStatus index = data == null ? statusOf(fileSystem, indexPath) : null;
        if (singleFile != null && (data != null || index != null)) {
            throw FaroException.invalidArgument("one output of this NAME; add .faro or .data to say which",
                    "both layouts of " + name);
        }
        if (singleFile != null) {
            return single(new HadoopFile(fileSystem, singleFile));
        }
        if (data != null || index != null) {
            return paired(data == null ? new HadoopFile(fileSystem, dataPath) : new HadoopFile(fileSystem, data),
                    new HadoopFile(fileSystem, indexPath));
        }
        FileStatus itself = statusOf(fileSystem, path);
        if (itself != null && itself.isFile()) {
            return single(new HadoopFile(fileSystem, itself));
        }
        throw FaroException.ioInStorage(null, name,
                "an output: " + base + SINGLE + ", or " + base + DATA + " and " + base + INDEX,
                new FileNotFoundException("none of these files"));
    }

    private static StoredOutput single(HadoopFile file) {
        return StoredOutput.single(new LastBytes(file, LAST_OF_SINGLE));
    }

    private static StoredOutput paired(HadoopFile data, HadoopFile index) {
        return StoredOutput.paired(data, new LastBytes(index, LAST_OF_INDEX));
    }

    private static Path path(String name) throws FaroException {
        try {
            return new Path(name);
        } catch (IllegalArgumentException e) {
            throw FaroException.invalidArgument("the NAME of an output", name);
        }
    }

    private static Path sibling(Path path, String name) {
        Path folder = path.getParent();
        return folder == null ? new Path(name) : new Path(folder, name);
    }

    private static FileStatus statusOf(FileSystem fileSystem, Path path) throws FaroException {
        try {
            return fileSystem.getFileStatus(path);
        } catch (FileNotFoundException e) {
            return null;
        } catch (IOException e) {
            throw FaroException.ioInStorage(null, path.toString(), "the status of a file", e);
        }
    }
}
