package dev.faro.testee;

import dev.faro.FileRole;
import dev.faro.storage.Destination;
import dev.faro.storage.RangeRead;
import dev.faro.storage.StoredFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
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

    /** Whether the storage has what was under the names before, and so shows what is gone. */
    abstract boolean hasAll();

    /** Makes the files of the request those of the storage, after the writer's end. */
    final void toFiles() {
        for (FileRole role : FileRole.OF_OUTPUTS) {
            try (StoredFile file = find(role)) {
                if (file != null) {
                    ByteBuffer bytes = ByteBuffer.allocate((int) file.size());
                    file.readRanges(List.of(new RangeRead(0, bytes)));
                    if (bytes.hasRemaining()) {
                        throw new IOException(file.name() + " ended " + bytes.remaining() + " bytes early");
                    }
                    Files.write(paths.get(role), bytes.array());
                } else if (hasAll()) {
                    Files.deleteIfExists(paths.get(role));
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
