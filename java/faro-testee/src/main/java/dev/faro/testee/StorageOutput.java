package dev.faro.testee;

import dev.faro.FileRole;
import dev.faro.storage.Destination;
import dev.faro.storage.StoredFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;

/** An output that is written to a storage, and put into the files that a request names afterwards. */
abstract class StorageOutput implements Destination {
    /** The files that the request names. */
    final Map<FileRole, Path> paths;

    StorageOutput(Map<FileRole, Path> paths) {
        this.paths = paths;
    }

    /** The files of a NAME; null if the NAME decides the layout, or is wrong: a storage has no NAMEs. */
    static Map<FileRole, Path> paths(Path name) {
        String base = String.valueOf(name.getFileName());
        if (base.matches("\\.*|.*\\.(faro|data|index)")) {
            return null;
        }
        Map<FileRole, Path> paths = new EnumMap<>(FileRole.class);
        paths.put(FileRole.DATA, name.resolveSibling(base + ".data"));
        paths.put(FileRole.INDEX, name.resolveSibling(base + ".index"));
        paths.put(FileRole.SINGLE, name.resolveSibling(base + ".faro"));
        return paths;
    }

    /** The published file of a role; null if there is none. */
    abstract StoredFile find(FileRole role) throws IOException;

    /** Writes the published files. */
    final void toFiles() {
        for (FileRole role : FileRole.values()) {
            try (StoredFile file = find(role)) {
                if (file != null) {
                    ByteBuffer bytes = ByteBuffer.allocate((int) file.size());
                    while (bytes.hasRemaining()) {
                        file.read(bytes.position(), bytes);
                    }
                    Files.write(paths.get(role), bytes.array());
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
