package dev.faro.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/** A folder for the files of one input: below TMPDIR if that is set, otherwise in memory if the system supports it. */
final class Folder implements AutoCloseable {
    private static final Path IN_MEMORY = Path.of("/dev/shm");

    private final Path root;

    Folder() throws IOException {
        String chosen = System.getenv("TMPDIR");
        Path parent = chosen != null ? Path.of(chosen) : IN_MEMORY;
        root = Files.isWritable(parent)
                ? Files.createTempDirectory(parent, "faro-fuzz")
                : Files.createTempDirectory("faro-fuzz");
    }

    Path path(String name) {
        return root.resolve(name);
    }

    Path write(String name, byte[] bytes) throws IOException {
        return Files.write(path(name), bytes);
    }

    /** Appends the missing bytes of a file up to {@code size}; never shrinks it. */
    void grow(String name, byte[] whole, int size) throws IOException {
        int has = (int) Files.size(path(name));
        int wanted = Math.min(size, whole.length);
        if (wanted > has) {
            byte[] more = java.util.Arrays.copyOfRange(whole, has, wanted);
            Files.write(path(name), more, StandardOpenOption.APPEND);
        }
    }

    /** The bytes of a file, or null if it does not exist. */
    byte[] read(String name) throws IOException {
        return Files.exists(path(name)) ? Files.readAllBytes(path(name)) : null;
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> found = Files.list(root)) {
            return found.toList();
        }
    }

    /** Removes all files. */
    void clear() throws IOException {
        for (Path file : files()) {
            Files.delete(file);
        }
    }

    int count() throws IOException {
        return files().size();
    }

    @Override
    public void close() {
        try {
            clear();
            Files.delete(root);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
