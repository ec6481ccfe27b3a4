package dev.faro.internal.storage;

import dev.faro.FaroException;
import dev.faro.FileRole;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Gives the files of one output their final names, all or none (PUB-2 to PUB-4). */
public final class FinalNames {
    /** What an error wanted that found a name taken. */
    static final String FREE_NAME = "no file with that name, or the option overwrite";

    private static final Set<String> FAILURES = Set.of(
            "Input/output error", "No space left on device", "Disk quota exceeded", "Read-only file system");

    private final PublishingLock lock;
    private final List<Name> names = new ArrayList<>();
    private final Map<Path, FileRole> others = new LinkedHashMap<>();

    private enum NameState {
        TEMPORARY, LINKED, MOVED
    }

    private static final class Name {
        final FileRole role;
        final Path temporary;
        final Path path;
        final boolean replace;
        final Object key;
        NameState state = NameState.TEMPORARY;

        Name(FileRole role, Path temporary, Path path, boolean replace, Object key) {
            this.role = role;
            this.temporary = temporary;
            this.path = path;
            this.replace = replace;
            this.key = key;
        }

        boolean isTaken() {
            return !replace && exists(path);
        }

        void checkFree() throws FaroException {
            if (!replace) {
                FinalNames.checkFree(role, path);
            }
        }

        /** Gives the name in one step that fails if the name exists; false if the file system has no such step. */
        boolean link() throws FaroException {
            try {
                Files.createLink(path, temporary);
                state = NameState.LINKED;
                return true;
            } catch (UnsupportedOperationException e) {
                return false;
            } catch (FileAlreadyExistsException e) {
                throw taken(role, path, e);
            } catch (IOException e) {
                if (failedForAnotherReason(e)) {
                    throw failed(e);
                }
                return false;
            }
        }

        /**
         * Whether a link failed for another reason than a file system without links. If an error has no specific class,
         * Java passes on only the system's words. With unknown words the fallback is tried; it fails as well if this
         * was a real failure.
         */
        private static boolean failedForAnotherReason(IOException e) {
            return e.getClass() != FileSystemException.class
                    || FAILURES.contains(String.valueOf(((FileSystemException) e).getReason()));
        }

        void move() throws FaroException {
            try {
                Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
                state = NameState.MOVED;
            } catch (IOException e) {
                throw failed(e);
            }
        }

        private FaroException failed(IOException e) {
            return FaroException.io(role, path, "to give the file its name", e);
        }

        void removeTemporary() {
            if (state == NameState.LINKED) {
                try {
                    FileKey.deleteIfExists(temporary);
                } catch (IOException e) {
                    // A second name stays, as it would after a writer that died here (PUB-7).
                }
            }
        }

        void takeBack(boolean remove) throws IOException {
            if (state != NameState.TEMPORARY && FileKey.has(path, key)) {
                if (state == NameState.LINKED || remove) {
                    Files.deleteIfExists(path);
                } else {
                    Files.move(path, temporary, StandardCopyOption.ATOMIC_MOVE);
                }
            }
            state = NameState.TEMPORARY;
        }
    }

    /** Makes an empty list of names, which the lock protects. */
    public FinalNames(PublishingLock lock) {
        this.lock = lock;
    }

    /**
     * Adds a file.
     *
     * @param replace whether the name may belong to another file, which is replaced
     * @param key the identity of the file, or null if the system has none
     */
    public void add(FileRole role, Path temporary, Path path, boolean replace, Object key) {
        names.add(new Name(role, temporary, path, replace, key));
    }

    /**
     * Adds a file that another program made, and looks for its identity.
     *
     * @param replace whether the name may belong to another file, which is replaced
     * @throws IOException the system's error
     */
    public void add(FileRole role, Path temporary, Path path, boolean replace) throws IOException {
        add(role, temporary, path, replace, FileKey.of(temporary));
    }

    /** Adds a name of the other layout, which must be free when the names are given (WRT-13). */
    public void addOther(FileRole role, Path path) {
        others.put(path, role);
    }

    /**
     * Refuses a name that exists.
     *
     * @throws FaroException {@code io}
     */
    public static void checkFree(FileRole role, Path path) throws FaroException {
        if (exists(path)) {
            throw taken(role, path, new FileAlreadyExistsException(path.toString()));
        }
    }

    private static boolean exists(Path path) {
        return Files.exists(path, LinkOption.NOFOLLOW_LINKS);
    }

    private static FaroException taken(FileRole role, Path path, IOException e) {
        return FaroException.io(role, path, FREE_NAME, e);
    }

    /**
     * Gives the names in the order in which they were added. If it fails, the caller has to call {@link #takeBack}.
     *
     * @throws FaroException {@code io}
     */
    public void give() throws FaroException {
        try {
            // The others are checked before the first is given, so that no name was visible if one is refused. Giving
            // the first name checks that one.
            if (names.stream().skip(1).anyMatch(Name::isTaken)) {
                for (Name name : names) {
                    name.checkFree();
                }
            }
            for (Map.Entry<Path, FileRole> other : others.entrySet()) {
                checkFree(other.getValue(), other.getKey());
            }
            if (names.size() > 1 && names.stream().anyMatch(name -> name.replace)) {
                lock.holding(this::giveAll);
            } else {
                giveAll();
            }
            names.forEach(Name::removeTemporary);
        } catch (FaroException e) {
            throw e;
        } catch (IOException e) {
            throw FaroException.io(names.get(0).role, names.get(0).temporary, "to give the file its name", e);
        }
    }

    private void giveAll() throws IOException {
        for (Name name : names) {
            if (name.replace) {
                name.move();
            } else if (!name.link()) {
                lock.holding(this::moveRest);
                return;
            }
        }
    }

    /** Gives the names by PUB-3, on a file system without links. */
    private void moveRest() throws FaroException {
        for (Name name : names) {
            if (name.state == NameState.TEMPORARY) {
                name.checkFree();
            }
        }
        for (Name name : names) {
            if (name.state == NameState.TEMPORARY) {
                name.move();
            }
        }
    }

    /** Whether any name was given, and not taken back. */
    public boolean anyGiven() {
        return names.stream().anyMatch(name -> name.state != NameState.TEMPORARY);
    }

    /**
     * Takes back the names that were given and still belong to these files, in reverse order.
     *
     * @param remove whether a file without another name is removed, instead of getting its temporary name back
     * @throws IOException if the lock cannot be obtained, or a name cannot be changed and so stays
     */
    public void takeBack(boolean remove) throws IOException {
        if (!anyGiven()) {
            return;
        }
        lock.holding(() -> {
            for (int i = names.size() - 1; i >= 0; i--) {
                names.get(i).takeBack(remove);
            }
        });
    }
}
