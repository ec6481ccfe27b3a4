package dev.faro.testee;

import dev.faro.FileRole;
import dev.faro.hadoop.HadoopDestination;
import dev.faro.hadoop.HadoopFile;
import dev.faro.storage.Destination;
import dev.faro.storage.NewFile;
import dev.faro.storage.StoredFile;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** An output that is written to a server of S3. */
final class S3aOutput extends StorageOutput {
    private final FileSystem fileSystem;
    private final Path name;
    private final Destination destination;

    S3aOutput(FileSystem fileSystem, Path name, Map<FileRole, java.nio.file.Path> paths) throws IOException {
        super(paths);
        this.fileSystem = fileSystem;
        this.name = name;
        this.destination = new HadoopDestination(fileSystem, name);
        for (FileRole role : FileRole.OF_OUTPUTS) {
            // What is under the name before.
            if (Files.isRegularFile(paths.get(role))) {
                S3a.put(fileSystem, paths.get(role), object(role));
            }
        }
    }

    private Path object(FileRole role) {
        return name.suffix(switch (role) {
            case DATA -> ".data";
            case INDEX -> ".index";
            case SINGLE -> ".faro";
            case FRAGMENT -> throw new IllegalArgumentException("a fragment is not a file of an output");
        });
    }

    @Override
    public NewFile create(FileRole role) throws IOException {
        return destination.create(role);
    }

    @Override
    public NewFile create(FileRole role, boolean replace) throws IOException {
        return destination.create(role, replace);
    }

    @Override
    public Optional<String> taken(FileRole role) throws IOException {
        return destination.taken(role);
    }

    @Override
    StoredFile find(FileRole role) throws IOException {
        return fileSystem.exists(object(role)) ? new HadoopFile(fileSystem, object(role)) : null;
    }

    @Override
    boolean hasAll() {
        return true;
    }
}
