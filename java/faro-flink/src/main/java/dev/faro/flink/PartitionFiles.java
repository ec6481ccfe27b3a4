package dev.faro.flink;

import dev.faro.FileRole;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.storage.Destination;
import dev.faro.storage.LocalFile;
import dev.faro.storage.MemoryFile;
import dev.faro.storage.NewFile;
import dev.faro.storage.StoredFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of a partition. They are in a folder to which only this task manager writes, under names that are never
 * used again. So a file has its name from the beginning, and there are no locks; until it has its end, readers refuse
 * it. The bytes of a small file also stay in memory, for its readers.
 *
 * <p>This is less than a {@link Destination} promises: a file can be seen before it is published, and an existing one
 * is never replaced.
 */
final class PartitionFiles implements Destination {
    private static final Logger LOG = LoggerFactory.getLogger(PartitionFiles.class);

    private final Disk disk;
    private final Path name;
    /** Guarded by itself. */
    private final List<Path> paths = new ArrayList<>();
    /** Whether all bytes of the output are in memory. */
    private volatile boolean inMemory;

    /**
     * Makes no file yet.
     *
     * @param disk where the files are; it learns of failures
     * @param name the path without extension
     */
    PartitionFiles(Disk disk, Path name) {
        this.disk = disk;
        this.name = name;
    }

    /** Where the files are. */
    Disk disk() {
        return disk;
    }

    /** The path without extension. */
    Path name() {
        return name;
    }

    /** The files that were made and not deleted: a data file and an index file, a single file, or none. */
    List<Path> paths() {
        synchronized (paths) {
            return List.copyOf(paths);
        }
    }

    /** Opens the finished output. */
    Reader open(ReaderOptions options) throws IOException {
        List<Path> files = paths();
        return switch (files.size()) {
            case 1 -> Reader.openSingle(files.get(0), options);
            case 2 -> Reader.openPair(files.get(0), files.get(1), options);
            default -> throw new IllegalStateException("expected a finished output, found none");
        };
    }

    /** Deletes the files, and logs those that cannot be deleted. */
    void delete() {
        for (Path path : paths()) {
            try {
                delete(path);
            } catch (IOException e) {
                LOG.warn("Cannot delete {}", path, e);
            }
        }
    }

    private void delete(Path path) throws IOException {
        Files.deleteIfExists(path);
        synchronized (paths) {
            paths.remove(path);
        }
    }

    /** Whether all bytes of the finished output are in memory, for the reader that its writer handed over. */
    boolean isInMemory() {
        return inMemory;
    }

    @Override
    public NewFile create(FileRole role) throws IOException {
        Path path = name.resolveSibling(name.getFileName() + switch (role) {
            case DATA -> ".data";
            case INDEX -> ".index";
            case SINGLE -> ".faro";
            case FRAGMENT -> throw new IllegalArgumentException("a fragment is not a file of a partition");
        });
        FileChannel channel;
        try {
            channel = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        } catch (IOException e) {
            disk.suspect(e);
            throw e;
        }
        synchronized (paths) {
            paths.add(path);
        }
        return new PartitionFile(path, channel, role == FileRole.SINGLE);
    }

    private final class PartitionFile implements NewFile {
        private final Path path;
        private final FileChannel channel;
        /** All bytes so far, if the file is small; null otherwise. */
        private ByteBuffer whole;
        private boolean published;

        PartitionFile(Path path, FileChannel channel, boolean mayBeSmall) {
            this.path = path;
            this.channel = channel;
            this.whole = mayBeSmall ? ByteBuffer.allocate(0) : null;
        }

        @Override
        public String name() {
            return path.toString();
        }

        @Override
        public void append(ByteBuffer bytes) throws IOException {
            if (whole != null) {
                int size = whole.capacity() + bytes.remaining();
                whole = size > OutputReads.DIRECT_BYTES ? null
                        : ByteBuffer.allocate(size).put(whole).put(bytes.duplicate()).flip();
            }
            try {
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
            } catch (IOException e) {
                disk.suspect(e);
                throw e;
            }
        }

        @Override
        public void sync() throws IOException {
            channel.force(true);
        }

        @Override
        public void publish(boolean replace) {
            published = true;
            inMemory = whole != null;
        }

        @Override
        public void remove() throws IOException {
            try {
                channel.close();
            } finally {
                delete(path);
            }
        }

        @Override
        public StoredFile open() {
            return whole == null ? new LateFile(path) : new MemoryFile(name(), whole);
        }

        @Override
        public void close() throws IOException {
            if (!published) {
                remove();
            }
            channel.close();
        }
    }

    /** A file that is opened when it is read. */
    private static final class LateFile implements StoredFile {
        private final Path path;
        private LocalFile opened;
        private boolean closed;

        LateFile(Path path) {
            this.path = path;
        }

        private synchronized LocalFile opened() throws IOException {
            if (closed) {
                throw new ClosedChannelException();
            }
            if (opened == null) {
                opened = LocalFile.open(path);
            }
            return opened;
        }

        @Override
        public long size() throws IOException {
            return opened().size();
        }

        @Override
        public int read(long offset, ByteBuffer target) throws IOException {
            return opened().read(offset, target);
        }

        @Override
        public String name() {
            return path.toString();
        }

        @Override
        public synchronized void close() throws IOException {
            closed = true;
            if (opened != null) {
                opened.close();
            }
        }
    }
}
