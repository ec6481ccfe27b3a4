package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import dev.faro.storage.MemoryFile;
import dev.faro.storage.StoredFile;
import dev.faro.storage.StoredOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The files of a request, loaded into memory to read and check them there. */
final class MemoryFiles {
    private MemoryFiles() {}

    /** Whether the environment asks for it. */
    static boolean areWanted() {
        return "memory".equals(System.getenv("FARO_TESTEE_STORAGE"));
    }

    static StoredOutput load(JsonNode request) {
        Path single = Request.path(request, "single");
        return single == null
                ? StoredOutput.paired(load(Request.path(request, "data")), load(Request.path(request, "index")))
                : StoredOutput.single(load(single));
    }

    private static StoredFile load(Path path) {
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
