package dev.faro.hybrid;

import dev.faro.storage.LocalFile;
import dev.faro.storage.StoredFile;
import java.io.IOException;
import java.nio.file.Path;

/** A file that is opened when it is first read. Safe to share between threads. */
final class ReadFile {
    private final Path path;
    private LocalFile opened;
    private boolean closed;

    ReadFile(Path path) {
        this.path = path;
    }

    synchronized StoredFile get() throws IOException {
        if (closed) {
            throw new IOException("the store was closed");
        }
        if (opened == null) {
            opened = LocalFile.open(path);
        }
        return opened;
    }

    synchronized void close() {
        closed = true;
        if (opened != null) {
            try {
                opened.close();
            } catch (IOException e) {
                // Nothing was written through it.
            }
        }
    }
}
