package dev.faro.internal.storage;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;

/** The identity of a file: device and file number, or null if the system has none. */
final class FileKey {
    private FileKey() {}

    /** The key of the file with a name; for a symbolic link, the key of the link. */
    static Object of(Path path) throws IOException {
        return attributes(path).fileKey();
    }

    /** The key of the file that a name leads to, through symbolic links. */
    static Object following(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    static BasicFileAttributes attributes(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }

    /**
     * Removes a name, if it exists, with one system call where the JDK permits it: {@link Files} looks at the file
     * first.
     *
     * @throws IOException the system's error
     */
    static void deleteIfExists(Path path) throws IOException {
        boolean removed = path.getFileSystem() == FileSystems.getDefault() && path.toFile().delete();
        if (!removed) {
            Files.deleteIfExists(path);
        }
    }

    /** Whether a name belongs to the file with a key. */
    static boolean has(Path path, Object key) throws IOException {
        try {
            return Objects.equals(key, of(path));
        } catch (NoSuchFileException e) {
            return false;
        }
    }
}
