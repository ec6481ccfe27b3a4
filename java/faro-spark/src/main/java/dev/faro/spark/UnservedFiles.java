package dev.faro.spark;

import dev.faro.FileRole;
import dev.faro.storage.Destination;
import dev.faro.storage.LocalFile;
import dev.faro.storage.MemoryDestination;
import dev.faro.storage.NewFile;
import dev.faro.storage.StoredFile;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The files of a sorted output from which a {@link ServedOutput} is made. Only this task ever sees them, so they have no
 * locks and no names of their own. A single file is in memory: making and removing files takes longer than writing a
 * few bytes. A pair has temporary files, which closing removes.
 *
 * <p>This is less than a {@link Destination} promises: a file on disk can be seen before it is published.
 */
final class UnservedFiles implements Destination, Closeable {
    private final Supplier<File> temporary;
    private final String name;
    /** Those on disk. */
    private final List<File> made = new ArrayList<>();

    /**
     * Makes no file yet.
     *
     * @param name for people
     * @param temporary makes the name of a new temporary file
     */
    UnservedFiles(String name, Supplier<File> temporary) {
        this.temporary = temporary;
        this.name = name;
    }

    @Override
    public NewFile create(FileRole role) throws IOException {
        if (role == FileRole.SINGLE) {
            // What was published is kept by its readers, and by nothing else.
            return new MemoryDestination(name).create(role);
        }
        File file = temporary.get();
        made.add(file);
        return new TemporaryFile(file.toPath());
    }

    /** Removes the files. */
    @Override
    public void close() {
        for (File file : made) {
            // An output that was not finished has removed its own.
            file.delete();
        }
    }

    private static final class TemporaryFile implements NewFile {
        private final Path path;
        private final FileChannel channel;
        private boolean published;

        TemporaryFile(Path path) throws IOException {
            this.path = path;
            // Spark may have made the file already, for other users to read.
            this.channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        }

        @Override
        public String name() {
            return path.toString();
        }

        @Override
        public void append(ByteBuffer bytes) throws IOException {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        }

        @Override
        public void sync() throws IOException {
            channel.force(true);
        }

        @Override
        public void publish(boolean replace) {
            published = true;
        }

        @Override
        public void remove() throws IOException {
            try {
                channel.close();
            } finally {
                Files.deleteIfExists(path);
            }
        }

        @Override
        public StoredFile open() throws IOException {
            return LocalFile.open(path);
        }

        @Override
        public void close() throws IOException {
            if (!published) {
                remove();
            }
            channel.close();
        }
    }
}
