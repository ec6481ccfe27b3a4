package dev.faro.internal.reader;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.FileRole;
import dev.faro.internal.bytes.HeaderBytes;
import dev.faro.internal.storage.InputFile;
import dev.faro.internal.storage.OutputName;
import dev.faro.storage.StoredOutput;
import java.io.Closeable;
import java.nio.file.Path;
import java.util.List;

/**
 * The files of one output (FIL-1 to FIL-3), after checks 1 to 5 of OPN-1.
 *
 * @param header the header of the index file or single file
 * @param index the index file, or the single file
 * @param data the data file, or the single file
 */
public record FileSet(FileHeader header, InputFile index, InputFile data) implements Closeable {
    /**
     * Opens an output by NAME (PUB-1).
     *
     * @throws FaroException the first check that fails, {@code io}, or {@code invalid-argument} if both layouts exist
     */
    public static FileSet open(Path name) throws FaroException {
        List<Path> files = OutputName.of(name).toRead();
        return files.size() == 1 ? openSingle(files.get(0)) : openPair(files.get(0), files.get(1));
    }

    /**
     * Opens a pair.
     *
     * @throws FaroException the first check that fails, or {@code io}
     */
    public static FileSet openPair(Path dataPath, Path indexPath) throws FaroException {
        return pair(InputFile.open(FileRole.INDEX, indexPath), () -> InputFile.open(FileRole.DATA, dataPath));
    }

    /**
     * Opens a single file.
     *
     * @throws FaroException the first check that fails, or {@code io}
     */
    public static FileSet openSingle(Path path) throws FaroException {
        return single(InputFile.open(FileRole.SINGLE, path));
    }

    /**
     * Opens an output from its stored files. If this fails, it closes them.
     *
     * @throws FaroException the first check that fails, or {@code io}
     */
    public static FileSet openStored(StoredOutput output) throws FaroException {
        if (output.isSingle()) {
            return single(new InputFile(FileRole.SINGLE, output.data()));
        }
        InputFile data = new InputFile(FileRole.DATA, output.data());
        try {
            return pair(new InputFile(FileRole.INDEX, output.index()), () -> data);
        } catch (FaroException | RuntimeException | Error e) {
            // It is open already, even if the index file was refused before it was needed. Closing it twice is allowed.
            closeAfter(e, data);
            throw e;
        }
    }

    /** Opens the data file of a pair, once the header of the index file is checked (OPN-1). */
    private interface Opening {
        InputFile open() throws FaroException;
    }

    private static FileSet pair(InputFile index, Opening opening) throws FaroException {
        InputFile data = null;
        try {
            FileHeader header = read(index, FileKind.INDEX);
            data = opening.open();
            HeaderBytes.checkPair(read(data, FileKind.DATA), header, data);
            return new FileSet(header, index, data);
        } catch (FaroException | RuntimeException | Error e) {
            closeAfter(e, index);
            closeAfter(e, data);
            throw e;
        }
    }

    private static FileSet single(InputFile file) throws FaroException {
        try {
            return new FileSet(read(file, FileKind.SINGLE), file, file);
        } catch (FaroException | RuntimeException | Error e) {
            closeAfter(e, file);
            throw e;
        }
    }

    /**
     * Reads the header of a file, which must be of the given kind.
     *
     * @throws FaroException the first check of HDR-1 that fails, or {@code mismatched-pair} at offset 8
     */
    public static FileHeader read(InputFile file, FileKind kind) throws FaroException {
        FileHeader header = file.readHeader();
        HeaderBytes.checkKind(header, kind, file);
        return header;
    }

    /** Closes a file before an error is thrown. A failure to close is added to the error. */
    public static void closeAfter(Throwable error, Closeable file) {
        if (file != null) {
            try {
                file.close();
            } catch (java.io.IOException e) {
                error.addSuppressed(e);
            }
        }
    }

    /** Whether the output is a single file. */
    public boolean isSingle() {
        return header.kind() == FileKind.SINGLE;
    }

    @Override
    public void close() throws FaroException {
        try {
            index.close();
        } finally {
            data.close();
        }
    }
}
