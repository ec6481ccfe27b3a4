package dev.faro.internal.storage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;

/** What tells files apart: device and file number, or null where the system has none. */
final class FileKey {
    private FileKey() {}

    /** Of what has a name; of a symbolic link its own. */
    static Object of(Path path) throws IOException {
        return attributes(path).fileKey();
    }

    /** Of what a name leads to. */
    static Object following(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    static BasicFileAttributes attributes(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }

    /** Whether a name is that of a file. */
    static boolean has(Path path, Object key) throws IOException {
        try {
            return Objects.equals(key, of(path));
        } catch (NoSuchFileException e) {
            return false;
        }
    }
}
