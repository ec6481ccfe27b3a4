package dev.faro.repair;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileRole;
import dev.faro.internal.storage.HeldFile;
import dev.faro.internal.storage.InputFile;
import dev.faro.internal.storage.LocalOutputFile;
import dev.faro.internal.storage.OutputName;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Those of the remains of a NAME that belong to one writer: files with temporary or final names (PUB-8). */
final class Group {
    private final OutputName name;
    private final boolean single;
    private final String x;
    private final Map<FileRole, Found> temporary = new EnumMap<>(FileRole.class);
    private final Map<FileRole, Found> last = new EnumMap<>(FileRole.class);

    /** A name and its file. Two names may belong to one file (PUB-7). */
    private record Found(Path path, HeldFile file, FileHeader header) {}

    private Group(OutputName name, boolean single, String x) {
        this.name = name;
        this.single = single;
        this.x = x;
    }

    /**
     * Finds the files of a NAME, grouped by writer (step 2).
     *
     * @param taken receives each file; the caller closes them
     * @throws FaroException {@code io}
     */
    static List<Group> collect(OutputName name, List<HeldFile> taken) throws FaroException {
        List<Group> groups = new ArrayList<>();
        List<Path> paths = list(name);
        for (FileRole role : FileRole.OF_OUTPUTS) {
            boolean single = role == FileRole.SINGLE;
            if (name.ending() != OutputName.Ending.NONE && single != (name.ending() == OutputName.Ending.SINGLE)) {
                continue;
            }
            Pattern pattern = Pattern.compile(
                    Pattern.quote(name.file(role).getFileName().toString()) + "\\.([0-9a-f]{8})\\.tmp");
            for (Path path : paths) {
                Matcher matcher = pattern.matcher(path.getFileName().toString());
                Found found = matcher.matches() ? find(role, path, taken) : null;
                if (found != null) {
                    group(groups, name, single, matcher.group(1)).temporary.put(role, found);
                }
            }
            Found found = find(role, name.file(role), taken);
            if (found != null) {
                String x = found.header == null ? null : LocalOutputFile.shortId(found.header.fileId());
                group(groups, name, single, x).last.put(role, found);
            }
        }
        return groups;
    }

    private static List<Path> list(OutputName name) throws FaroException {
        Path folder = name.path().toAbsolutePath().getParent();
        List<Path> paths = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                paths.add(name.path().resolveSibling(file.getFileName().toString()));
            }
        } catch (IOException e) {
            throw FaroException.io(null, folder, "to list the folder", e);
        } catch (DirectoryIteratorException e) {
            throw FaroException.io(null, folder, "to list the folder", e.getCause());
        }
        return paths;
    }

    private static Found find(FileRole role, Path path, List<HeldFile> taken) throws FaroException {
        for (HeldFile file : taken) {
            if (file.isNamed(path)) {
                // A second try to take it would fail.
                return new Found(path, file, header(role, path));
            }
        }
        HeldFile file = HeldFile.take(role, path);
        if (file == null) {
            return null;
        }
        taken.add(file);
        return new Found(path, file, header(role, path));
    }

    /** The header of a file, or null if it does not begin with one. */
    private static FileHeader header(FileRole role, Path path) throws FaroException {
        try (InputFile file = InputFile.open(role, path)) {
            return file.readHeader();
        } catch (FaroException e) {
            if (e.code() == ErrorCode.IO) {
                throw e;
            }
            return null;
        }
    }

    private static Group group(List<Group> groups, OutputName name, boolean single, String x) {
        for (Group group : groups) {
            if (group.single == single && Objects.equals(group.x, x)) {
                return group;
            }
        }
        groups.add(new Group(name, single, x));
        return groups.get(groups.size() - 1);
    }

    /**
     * Chooses the group to recover (steps 3 to 5).
     *
     * @param named the X that the caller chose, or null
     * @return null if no group can be saved
     * @throws FaroException {@code io} if there is none, or its writer lives; {@code invalid-argument} if there are
     *     several
     */
    static Group choose(List<Group> groups, OutputName name, String named) throws FaroException {
        List<Group> all = groups.stream().filter(group -> named == null || named.equals(group.x)).toList();
        if (all.isEmpty()) {
            String expected = "files that a writer left unfinished" + (named == null ? "" : ", with file_id " + named);
            throw failure(name, expected, "none");
        }
        List<Group> savable = all.stream().filter(Group::canBeSaved).toList();
        if (savable.isEmpty()) {
            return null;
        }
        List<Group> dead = savable.stream().filter(group -> !group.isLiving()).toList();
        if (dead.isEmpty()) {
            throw failure(name, "files of a writer that has ended", "those of a living writer: " + shown(savable));
        }
        if (dead.size() > 1) {
            throw FaroException.invalidArgument(
                    "files of one output; choose one by its file_id, or by the ending of NAME", shown(dead));
        }
        return dead.get(0);
    }

    private static FaroException failure(OutputName name, String expected, String found) {
        return new FaroException(ErrorCode.IO, null, name.path(), FaroException.NO_OFFSET, expected, found, null);
    }

    private static String shown(List<Group> groups) {
        return String.join(", ", groups.stream()
                .map(group -> group.x + (group.single ? " (a single file)" : " (a pair)")).sorted().toList());
    }

    /** Whether its data file or single file begins with a header; otherwise nothing can be saved (step 3). */
    private boolean canBeSaved() {
        return header(single ? FileRole.SINGLE : FileRole.DATA) != null;
    }

    private boolean isLiving() {
        return Stream.concat(temporary.values().stream(), last.values().stream())
                .anyMatch(found -> found.file.isLiving());
    }

    boolean isSingle() {
        return single;
    }

    /** The first 8 hexadecimal digits of the file_id. */
    String x() {
        return x;
    }

    /** The roles of the output's files, in the order in which they get their final names. */
    List<FileRole> roles() {
        return single ? List.of(FileRole.SINGLE) : List.of(FileRole.DATA, FileRole.INDEX);
    }

    /** A name of a role's file: the temporary one, unless the same file also has the final name. */
    private Found found(FileRole role) {
        Found first = temporary.get(role);
        Found second = last.get(role);
        return first == null || second != null && first.file == second.file ? second : first;
    }

    /** Whether the file of a role exists and has its final name. */
    boolean isNamed(FileRole role) {
        return found(role) != null && found(role) == last.get(role);
    }

    /** The header of the file of a role, or null. */
    FileHeader header(FileRole role) {
        return found(role) == null ? null : found(role).header;
    }

    /** The file of a role, or null. */
    HeldFile file(FileRole role) {
        return found(role) == null ? null : found(role).file;
    }

    /** The current name of the file of a role. */
    Path path(FileRole role) {
        return found(role).path;
    }

    /** The temporary name for a role (PUB-2). */
    Path temporaryPath(FileRole role) {
        return LocalOutputFile.temporaryName(finalPath(role), x);
    }

    /** The final name for a role. */
    Path finalPath(FileRole role) {
        return name.file(role);
    }
}
