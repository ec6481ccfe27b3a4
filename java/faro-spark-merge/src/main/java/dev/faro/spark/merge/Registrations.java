package dev.faro.spark.merge;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.spark.network.shuffle.protocol.ExecutorShuffleInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the merged files of each application are, for a service that starts again: a small file for each application. The
 * merges themselves need no record, since their files say what they have.
 */
final class Registrations {
    private static final Logger LOG = LoggerFactory.getLogger(Registrations.class);
    private static final String ENDING = ".properties";
    /** What an executor sends: Spark's name of the shuffle manager, a colon, and an object of two texts. */
    private static final Pattern MERGE_FOLDER = Pattern.compile("\"mergeDir\"\\s*:\\s*\"([^\"\\\\]+)\"");
    private static final Pattern ATTEMPT = Pattern.compile("\"attemptId\"\\s*:\\s*\"(-?\\d{1,9})\"");

    /** Null if nothing is kept. */
    private final Path folder;

    /**
     * The place of an application's merged files.
     *
     * @param attempt of the application; -1 if it has none
     * @param folders Spark's folders for merged files
     * @param subfolders how many each of them has
     */
    record Registration(String application, int attempt, List<String> folders, int subfolders) {}

    Registrations(File folder) {
        this.folder = folder == null ? null : folder.toPath();
    }

    /** What the registration of an executor says, or null. Spark's services have no JSON library under its own name. */
    static Registration of(String application, ExecutorShuffleInfo executor) {
        Matcher mergeFolder = MERGE_FOLDER.matcher(executor.shuffleManager);
        if (!mergeFolder.find()) {
            return null;
        }
        Matcher attempt = ATTEMPT.matcher(executor.shuffleManager);
        // Beside the folders for blocks, as executors make them.
        List<String> folders = Arrays.stream(executor.localDirs)
                .map(blocks -> Path.of(blocks).resolveSibling(mergeFolder.group(1)).toString()).toList();
        return new Registration(application, attempt.find() ? Integer.parseInt(attempt.group(1)) : -1, folders,
                executor.subDirsPerLocalDir);
    }

    /** Keeps a registration. If that fails, a service that starts again does not know the application. */
    void save(Registration one) {
        if (folder == null) {
            return;
        }
        Properties texts = new Properties();
        texts.setProperty("application", one.application);
        texts.setProperty("attempt", String.valueOf(one.attempt));
        texts.setProperty("subfolders", String.valueOf(one.subfolders));
        for (int i = 0; i < one.folders.size(); i++) {
            texts.setProperty("folder." + i, one.folders.get(i));
        }
        Path file = file(one.application);
        Path begun = file.resolveSibling(file.getFileName() + ".tmp");
        try {
            Files.createDirectories(folder);
            try (OutputStream out = Files.newOutputStream(begun)) {
                texts.store(out, null);
            }
            Files.move(begun, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            LOG.warn("Application {} is not kept for a restart of the service.", one.application, e);
        }
    }

    void remove(String application) {
        if (folder != null) {
            try {
                Files.deleteIfExists(file(application));
            } catch (IOException e) {
                LOG.warn("Application {} stays known to the next start of the service.", application, e);
            }
        }
    }

    private Path file(String application) {
        return folder.resolve(URLEncoder.encode(application, StandardCharsets.UTF_8) + ENDING);
    }

    /** All that were kept. One that cannot be read is left out. */
    List<Registration> load() throws IOException {
        if (folder == null || !Files.isDirectory(folder)) {
            return List.of();
        }
        List<Registration> found = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            files.filter(file -> file.toString().endsWith(ENDING)).sorted().forEach(file -> {
                try {
                    found.add(load(file));
                } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
                    LOG.warn("{} is not the registration of an application.", file, e);
                }
            });
        }
        return found;
    }

    private static Registration load(Path file) throws IOException {
        Properties texts = new Properties();
        try (InputStream in = Files.newInputStream(file)) {
            texts.load(in);
        }
        List<String> folders = new ArrayList<>();
        for (String next; (next = texts.getProperty("folder." + folders.size())) != null;) {
            folders.add(next);
        }
        String application = texts.getProperty("application");
        int subfolders = Integer.parseInt(texts.getProperty("subfolders", ""));
        if (application == null || folders.isEmpty() || subfolders < 1) {
            throw new IOException("application, folders or subfolders are missing");
        }
        return new Registration(application, Integer.parseInt(texts.getProperty("attempt", "")), folders, subfolders);
    }
}
