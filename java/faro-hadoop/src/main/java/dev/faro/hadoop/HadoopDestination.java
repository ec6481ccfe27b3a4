package dev.faro.hadoop;

import dev.faro.FileRole;
import dev.faro.storage.Destination;
import dev.faro.storage.NewFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.util.Objects;
import java.util.Optional;
import org.apache.hadoop.fs.ChecksumFileSystem;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/**
 * A folder of HDFS, or of the local file system, that a writer writes an output to: NAME.data and NAME.index, or
 * NAME.faro. Each file has a temporary name, {@code NAME.data.X.tmp}, until it is published by a rename. A writer that
 * is killed leaves it.
 *
 * <pre>{@code
 * Destination destination = new HadoopDestination(fs, new Path("/shuffles/orders"));
 * try (Writer writer = Writer.createIn(destination, new WriterOptions(64))) {
 *     writer.write(7, record);
 *     writer.finish();
 * }
 * }</pre>
 *
 * <p>Object stores are refused with an {@link IOException} when a file is made: their rename is a copy, which cannot
 * leave an existing file untouched when several writers publish one name.
 */
public final class HadoopDestination implements Destination {
    private final FileSystem fileSystem;
    private final Path name;

    /**
     * Makes a destination. The file system stays open.
     *
     * @param name the NAME, without an ending
     */
    public HadoopDestination(FileSystem fileSystem, Path name) {
        Objects.requireNonNull(fileSystem, "fileSystem");
        this.fileSystem = fileSystem instanceof ChecksumFileSystem checked ? checked.getRawFileSystem() : fileSystem;
        this.name = fileSystem.makeQualified(Objects.requireNonNull(name, "name"));
    }

    @Override
    public NewFile create(FileRole role) throws IOException {
        return HadoopNewFile.create(fileSystem, path(role));
    }

    @Override
    public Optional<String> taken(FileRole role) throws IOException {
        Path path = path(role);
        // The link itself counts: publishing does not replace one that leads nowhere.
        boolean exists = fileSystem instanceof RawLocalFileSystem local
                ? Files.exists(local.pathToFile(path).toPath(), LinkOption.NOFOLLOW_LINKS) : fileSystem.exists(path);
        return exists ? Optional.of(path.toString()) : Optional.empty();
    }

    private Path path(FileRole role) {
        return name.suffix(switch (role) {
            case DATA -> ".data";
            case INDEX -> ".index";
            case SINGLE -> ".faro";
        });
    }
}
