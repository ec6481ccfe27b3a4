package dev.faro.hybrid;

import dev.faro.FileRole;
import dev.faro.storage.Destination;
import dev.faro.storage.NewFile;
import dev.faro.storage.StoredFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Where the writer of a store writes: into the image. */
final class ImageDestination implements Destination {
    /** What has to happen before the output counts as finished. */
    interface Ending {
        void run() throws IOException;
    }

    private final Image image;
    private final Path data;
    private final Path index;
    private final Ending ending;
    /** Whether there will be files in any case, so that their names are looked at now. */
    private final boolean makesFiles;
    private boolean replaces;

    ImageDestination(Image image, Path data, Path index, boolean makesFiles, Ending ending) {
        this.image = image;
        this.makesFiles = makesFiles;
        this.data = data;
        this.index = index;
        this.ending = ending;
    }

    /** Whether the files may replace others. */
    boolean replaces() {
        return replaces;
    }

    private Path path(FileRole role) {
        return role == FileRole.DATA ? data : index;
    }

    @Override
    public Optional<String> taken(FileRole role) {
        Path path = path(role);
        return makesFiles && Files.exists(path) ? Optional.of(path.toString()) : Optional.empty();
    }

    @Override
    public NewFile create(FileRole role) {
        return new Growing(role);
    }

    @Override
    public NewFile create(FileRole role, boolean replace) {
        replaces = replace;
        return create(role);
    }

    private final class Growing implements NewFile {
        private final FileRole role;

        Growing(FileRole role) {
            this.role = role;
        }

        @Override
        public String name() {
            return path(role).toString();
        }

        @Override
        public void append(ByteBuffer bytes) {
            byte[] chunk = new byte[bytes.remaining()];
            bytes.get(bytes.position(), chunk);
            if (role == FileRole.DATA) {
                image.addData(chunk);
            } else {
                image.addIndex(chunk);
            }
        }

        @Override
        public void sync() throws IOException {
            throw new IOException("a hybrid store does not sync");
        }

        @Override
        public void publish(boolean replace) throws IOException {
            if (role == FileRole.INDEX) {
                ending.run();
            }
        }

        /** The store removes its files. */
        @Override
        public void remove() {}

        @Override
        public StoredFile open() {
            return role == FileRole.DATA ? image.data : image.index;
        }

        @Override
        public void close() {}
    }
}
