package dev.faro.writer;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.FileRole;
import dev.faro.internal.reader.FileSet;
import dev.faro.internal.storage.OutputFile;
import dev.faro.internal.writer.Committer;
import java.nio.file.Path;
import java.util.List;

/** The files of an output while it is written: names, publication, removal (PUB, WRT-4, WRT-6). */
abstract class OutputFiles {
    /** The data file or single file. */
    abstract OutputFile data();

    /** The index file or single file. */
    abstract OutputFile index();

    /** The final names of local files: data and index, or the single file; immutable. */
    abstract List<Path> paths();

    /** The names of the files for people, in the same order; immutable. */
    abstract List<String> names();

    /**
     * Writes the rest, gives the files their names, data first, and closes them. If this fails, nothing remains that
     * looks finished, as far as the system permits (WRT-6).
     *
     * @param end the size of the index file or single file without its tail
     * @param keepOpen whether the files stay open, for {@link #handOver}
     */
    abstract void publish(long end, boolean sync, boolean keepOpen) throws FaroException;

    /**
     * Hands over the published files to a reader.
     *
     * @param header the header of the index file or single file
     */
    abstract FileSet handOver(FileHeader header) throws FaroException;

    /**
     * Removes the files, even if they have their final names, and closes them.
     *
     * @throws FaroException {@code io} for the first file that could not be removed, the others suppressed
     */
    abstract void discard() throws FaroException;

    /**
     * Writes the rest of a data file, so that no region in the index file has blocks that are not written. A single
     * file has one order.
     *
     * @param keepOpen as in {@link #publish}
     */
    void flushData(boolean keepOpen) throws FaroException {
        if (!isSingle()) {
            data().flush();
        }
    }

    final boolean isSingle() {
        return data() == index();
    }

    /**
     * Writes the headers and the schema block.
     *
     * @param header the header of the index file or single file
     * @param schema the encapsulated Arrow schema message, or null
     */
    void begin(FileHeader header, Committer committer, byte[] schema) throws FaroException {
        if (!isSingle()) {
            Committer.header(data(), header.withKind(FileKind.DATA));
        }
        Committer.header(index(), header);
        if (schema != null) {
            committer.schema(schema);
        }
    }

    /** The roles of an output's files. */
    static List<FileRole> roles(Layout layout) {
        return layout == Layout.SINGLE ? List.of(FileRole.SINGLE) : List.of(FileRole.DATA, FileRole.INDEX);
    }

    /** Discards the files before an error is thrown. */
    final void discardAfter(Throwable error) {
        try {
            discard();
        } catch (FaroException e) {
            error.addSuppressed(e);
        }
    }
}
