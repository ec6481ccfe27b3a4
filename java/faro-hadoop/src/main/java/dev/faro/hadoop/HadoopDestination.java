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
 * Writes an output to one of Hadoop's file systems: NAME.data and NAME.index, or NAME.faro.
 *
 * <pre>{@code
 * Destination destination = new HadoopDestination(fs, new Path("/shuffles/orders"));
 * try (Writer writer = Writer.createIn(destination, new WriterOptions(64))) {
 *     writer.write(7, record);
 *     writer.finish();
 * }
 * }</pre>
 *
 * <p>In HDFS and the local file system, each file has a temporary name, {@code NAME.data.X.tmp}, until a rename
 * publishes it. A writer that is killed leaves it.
 *
 * <p>In S3 (S3A of Hadoop 3.4.2 and later, unless {@code fs.s3a.create.conditional.enabled} is false), a file is sent in
 * parts while it is written, and appears when it is complete, on the condition that its name is free. The server must
 * honour that condition ({@code If-None-Match}) for objects and for uploads in parts; this class cannot see whether it
 * does. A writer that is killed leaves an open multipart upload. Other file systems are refused with an
 * {@link IOException} when a file is made, because Faro knows no way in them to leave an existing file untouched when
 * several writers publish one name.
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
        return create(role, false);
    }

    @Override
    public NewFile create(FileRole role, boolean replace) throws IOException {
        Path path = path(role);
        if (fileSystem instanceof RawLocalFileSystem || "hdfs".equals(fileSystem.getUri().getScheme())) {
            return HadoopNewFile.create(fileSystem, path);
        }
        if (fileSystem.hasPathCapability(path, HadoopNewObject.CONDITIONAL)
                && fileSystem.hasPathCapability(path, HadoopNewObject.ABORTABLE)) {
            return new HadoopNewObject(fileSystem, path, replace);
        }
        throw new IOException("writing needs HDFS, local files, or S3A of Hadoop 3.4.2 with"
                + " fs.s3a.create.conditional.enabled: " + path);
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
            case FRAGMENT -> throw new IllegalArgumentException("a fragment is not a file of an output");
        });
    }
}
