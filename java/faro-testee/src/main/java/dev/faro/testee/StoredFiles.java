package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import dev.faro.FileRole;
import dev.faro.hadoop.HadoopFile;
import dev.faro.storage.MemoryFile;
import dev.faro.storage.StoredFile;
import dev.faro.storage.StoredOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;

/**
 * The files of a request in another storage: in memory, read through Hadoop's local file system, or in a server of S3.
 */
final class StoredFiles {
    private static final String STORAGE = System.getenv("FARO_TESTEE_STORAGE");
    /** Null unless it is asked for. */
    private static final S3a S3A = "s3a".equals(STORAGE) ? new S3a() : null;

    private StoredFiles() {}

    /** Whether the environment asks for another storage. */
    static boolean areWanted() {
        return STORAGE != null;
    }

    /** The output of a NAME in a storage that can be written to as well; null for local files. */
    static StorageOutput output(Path name) {
        Map<FileRole, Path> paths = StorageOutput.paths(name);
        if (paths == null || STORAGE == null) {
            return null;
        }
        return switch (STORAGE) {
            case "memory" -> new MemoryOutput(paths);
            case "s3a" -> S3A.output(paths);
            default -> null;
        };
    }

    static StoredOutput load(JsonNode request) {
        Path single = Request.path(request, "single");
        return single == null
                ? StoredOutput.paired(load(Request.path(request, "data")), load(Request.path(request, "index")))
                : StoredOutput.single(load(single));
    }

    private static StoredFile load(Path path) {
        return switch (STORAGE) {
            case "memory" -> inMemory(path);
            case "hadoop" -> inHadoop(path);
            case "s3a" -> S3A.copy(path);
            default -> throw new IllegalStateException("FARO_TESTEE_STORAGE=" + STORAGE);
        };
    }

    private static StoredFile inHadoop(Path path) {
        try {
            return new HadoopFile(FileSystem.getLocal(new Configuration(false)),
                    new org.apache.hadoop.fs.Path(path.toUri()));
        } catch (IOException e) {
            return new Unreadable(path, e);
        }
    }

    private static StoredFile inMemory(Path path) {
        try {
            if (Files.exists(path) && !Files.isRegularFile(path)) {
                // Reading a pipe would wait for its writer.
                throw new FileSystemException(path.toString(), null, "not a regular file");
            }
            return new MemoryFile(path.toString(), ByteBuffer.wrap(Files.readAllBytes(path)));
        } catch (IOException e) {
            return new Unreadable(path, e);
        }
    }

    /** A file that could not be loaded. The reader finds out when it comes to this file in the order of its checks. */
    private record Unreadable(Path path, IOException cause) implements StoredFile {
        @Override
        public long size() throws IOException {
            throw cause;
        }

        @Override
        public int read(long offset, ByteBuffer target) throws IOException {
            throw cause;
        }

        @Override
        public String name() {
            return path.toString();
        }

        @Override
        public void close() {}
    }
}
