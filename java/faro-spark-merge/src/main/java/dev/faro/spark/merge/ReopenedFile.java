package dev.faro.spark.merge;

import dev.faro.storage.LocalFile;
import dev.faro.storage.StoredFile;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;

/**
 * A file that is closed between uses, so that the outputs that a process may be asked for again do not hold all its file
 * descriptors.
 */
final class ReopenedFile implements StoredFile {
    private final Path path;
    private final String name;
    private final long size;
    private final FileTime modified;
    private LocalFile open;

    ReopenedFile(File file) throws IOException {
        this.path = file.toPath();
        this.modified = Files.getLastModifiedTime(path);
        this.open = LocalFile.open(path);
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
            open = LocalFile.open(path);
        }
        return open;
    }

    @Override
    public String name() {
        return name;
    }

    /** Whether the file of this name is still the one that was opened, as far as its size and time say. */
    boolean isCurrent() {
        try {
            BasicFileAttributes now = Files.readAttributes(path, BasicFileAttributes.class);
            return now.size() == size && now.lastModifiedTime().equals(modified);
        } catch (IOException e) {
            return false;
        }
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
