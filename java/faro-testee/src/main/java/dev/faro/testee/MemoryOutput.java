package dev.faro.testee;

import dev.faro.FileRole;
import dev.faro.storage.Destination;
import dev.faro.storage.MemoryDestination;
import dev.faro.storage.NewFile;
import dev.faro.storage.StoredFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** An output that is written to memory, and put into the files that a request names afterwards. */
final class MemoryOutput implements Destination {
    private final MemoryDestination memory;
    private final Map<FileRole, Path> paths;

    private MemoryOutput(Map<FileRole, Path> paths) {
        this.memory = new MemoryDestination("memory");
        this.paths = paths;
    }

    /** Null if the NAME decides the layout, or is wrong: a storage has no NAMEs. */
    static MemoryOutput of(Path name) {
        String base = String.valueOf(name.getFileName());
        if (base.matches("\\.*|.*\\.(faro|data|index)")) {
            return null;
        }
        Map<FileRole, Path> paths = new EnumMap<>(FileRole.class);
        paths.put(FileRole.DATA, name.resolveSibling(base + ".data"));
        paths.put(FileRole.INDEX, name.resolveSibling(base + ".index"));
        paths.put(FileRole.SINGLE, name.resolveSibling(base + ".faro"));
        return new MemoryOutput(paths);
    }

    @Override
    public NewFile create(FileRole role) {
        return memory.create(role);
    }

    @Override
    public Optional<String> taken(FileRole role) {
        Path path = paths.get(role);
        return Files.exists(path, LinkOption.NOFOLLOW_LINKS) ? Optional.of(path.toString()) : Optional.empty();
    }

    /** Writes the published files. */
    void toFiles() {
        for (FileRole role : FileRole.values()) {
            StoredFile file = memory.find(role).orElse(null);
            if (file != null) {
                write(file, paths.get(role));
            }
        }
    }

    private static void write(StoredFile file, Path path) {
        try {
            ByteBuffer bytes = ByteBuffer.allocate((int) file.size());
            file.read(0, bytes);
            Files.write(path, bytes.array());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
