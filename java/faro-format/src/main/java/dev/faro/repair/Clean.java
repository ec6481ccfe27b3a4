package dev.faro.repair;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileRole;
import dev.faro.internal.bytes.HeaderBytes;
import dev.faro.internal.storage.HeldFile;
import dev.faro.internal.storage.PublishingLock;
import dev.faro.repair.CleanReport.KeptFile;
import dev.faro.repair.CleanReport.KeptReason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Removes the files that dead writers left in a folder (PUB-9). */
public final class Clean {
    private static final Pattern TEMPORARY =
            Pattern.compile(".*\\.(data|index|faro)\\.([0-9a-f]{8})\\.tmp", Pattern.DOTALL);
    private static final String REBUILD = ".index.rebuild.tmp";
    private final CleanOptions options;
    private final List<String> removed = new ArrayList<>();
    private final List<KeptFile> kept = new ArrayList<>();

    private Clean(CleanOptions options) {
        this.options = options;
    }

    /**
     * Removes temporary files and locks that dead writers left in a folder, but not those in its subfolders. A file
     * with a final name is never removed: {@link Recover} repairs such files.
     *
     * @throws FaroException {@code invalid-argument} for a negative time; {@code io} for the first file that cannot be
     *     inspected or removed, after all other files were handled
     */
    public static CleanReport clean(Path folder, CleanOptions options) throws FaroException {
        Objects.requireNonNull(folder, "folder");
        Objects.requireNonNull(options, "options");
        if (options.olderThan().isNegative()) {
            throw FaroException.invalidArgument("an olderThan of 0 or more", options.olderThan());
        }
        Clean clean = new Clean(options);
        FaroException failure = null;
        for (Path path : list(folder).values()) {
            try {
                clean.look(path);
            } catch (FaroException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
        return new CleanReport(List.copyOf(clean.removed), List.copyOf(clean.kept));
    }

    /** Applies rule 1. */
    private static TreeMap<String, Path> list(Path folder) throws FaroException {
        TreeMap<String, Path> paths = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (TEMPORARY.matcher(name).matches() || name.endsWith(REBUILD)
                        || name.endsWith(PublishingLock.ENDING)) {
                    paths.put(name, file);
                }
            }
        } catch (IOException e) {
            throw FaroException.io(null, folder, "to list the folder", e);
        } catch (DirectoryIteratorException e) {
            throw FaroException.io(null, folder, "to list the folder", e.getCause());
        }
        return paths;
    }

    /** Applies rules 2 to 4. */
    private void look(Path path) throws FaroException {
        String name = path.getFileName().toString();
        boolean lock = name.endsWith(PublishingLock.ENDING);
        try (HeldFile file = lock ? HeldFile.takeLock(path) : HeldFile.take(role(name), path)) {
            if (file == null || !(lock ? file.size() == 0 : fits(name, file))) {
                return;
            }
            Duration age = Duration.between(file.changed().toInstant(), Instant.now());
            if (age.compareTo(options.olderThan()) < 0) {
                kept.add(new KeptFile(name, KeptReason.YOUNG));
            } else if (file.isLiving()) {
                kept.add(new KeptFile(name, KeptReason.LIVING));
            } else {
                remove(path);
                removed.add(name);
            }
        }
    }

    private static FileRole role(String name) {
        Matcher matcher = TEMPORARY.matcher(name);
        if (!matcher.matches() || matcher.group(1).equals("index")) {
            return FileRole.INDEX;
        }
        return matcher.group(1).equals("data") ? FileRole.DATA : FileRole.SINGLE;
    }

    private static boolean fits(String name, HeldFile file) throws FaroException {
        if (!file.isOpen() || file.size() < FileHeader.SIZE) {
            // A file that this process is writing is not opened: closing it would lose its lock.
            return true;
        }
        ByteBuffer start = file.start();
        if (!HeaderBytes.looksLike(start)) {
            return start.remaining() < FileHeader.SIZE;
        }
        Matcher matcher = TEMPORARY.matcher(name);
        return !matcher.matches()
                || HeaderBytes.fileIdStart(start) == Integer.parseUnsignedInt(matcher.group(2), 16);
    }

    private void remove(Path path) throws FaroException {
        if (!options.dryRun()) {
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                throw FaroException.io(null, path, "to remove the file", e);
            }
        }
    }
}
