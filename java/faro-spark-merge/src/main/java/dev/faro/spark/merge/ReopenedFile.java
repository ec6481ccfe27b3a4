package dev.faro.spark.merge;

import dev.faro.storage.LocalFile;
import dev.faro.storage.StoredFile;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A file that is closed between uses, so that the outputs that a process may be asked for again do not hold all its file
 * descriptors.
 */
final class ReopenedFile implements StoredFile {
    private final File file;
    private final String name;
    private final long size;
    private final long modified;
    private LocalFile open;

    ReopenedFile(File file) throws IOException {
        this.file = file;
        this.modified = file.lastModified();
        this.open = LocalFile.open(file.toPath());
        this.name = open.name();
        this.size = open.size();
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public int read(long offset, ByteBuffer target) throws IOException {
        return opened().read(offset, target);
    }

    private synchronized LocalFile opened() throws IOException {
        if (open == null) {
            open = LocalFile.open(file.toPath());
        }
        return open;
    }

    @Override
    public String name() {
        return name;
    }

    /** Whether the file of this name is still the one that was opened, as far as its size and time say. */
    boolean isCurrent() {
        return file.length() == size && file.lastModified() == modified;
    }

    /** Closes the file until it is read again. There is no read in progress. */
    @Override
    public synchronized void close() throws IOException {
        if (open != null) {
            open.close();
            open = null;
        }
    }
}
