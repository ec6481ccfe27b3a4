package dev.faro.testee;

import dev.faro.FileRole;
import dev.faro.storage.MemoryDestination;
import dev.faro.storage.NewFile;
import dev.faro.storage.StoredFile;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** An output that is written to memory. */
final class MemoryOutput extends StorageOutput {
    private final MemoryDestination memory = new MemoryDestination("memory");

    MemoryOutput(Map<FileRole, Path> paths) {
        super(paths);
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

    @Override
    StoredFile find(FileRole role) {
        return memory.find(role).orElse(null);
    }

    @Override
    boolean hasAll() {
        return false;
    }
}
