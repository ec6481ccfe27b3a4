package dev.faro.internal.storage;

import dev.faro.FaroException;
import dev.faro.FileRole;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Set;

/** The lock of one output's names, which one thread of one process has at a time (PUB-5). Not for several threads. */
public final class PublishingLock {
    /** The ending of the lock's file, after NAME. */
    public static final String ENDING = ".faro-lock";

    private final FileRole role;
    private final Path path;
    private final Duration limit;
    private Claim claim;
    private FileChannel channel;
    private RecordLock record;
    /** A second channel of the locked file, which shows that the name belongs to it. */
    private FileChannel named;
    private Object key;
    /** Why it is unknown whether the name belonged to a file that was locked; null if it never was unknown. */
    private IOException refused;
    private boolean held;

    /**
     * Makes the lock of an output.
     *
     * @param role for errors
     * @param path NAME.faro-lock
     * @param limit how long to wait for the lock
     */
    public PublishingLock(FileRole role, Path path, Duration limit) {
        this.role = role;
        this.path = path;
        this.limit = limit;
    }

    /** Work that needs the lock. */
    public interface Work {
        /** Does the work. */
        void run() throws IOException;
    }

    /**
     * Does some work while this has the lock. Takes the lock first, unless this has it already.
     *
     * @throws FaroException {@code io} if the lock is not free in time, or the thread is interrupted while it waits
     * @throws IOException what the work throws
     */
    public void holding(Work work) throws IOException {
        if (held) {
            work.run();
            return;
        }
        try {
            take();
            held = true;
            work.run();
        } finally {
            giveBack();
        }
    }

    private void take() throws FaroException {
        Patience patience = new Patience(limit);
        try {
            String name = Claim.ofName(path);
            for (claim = Claim.take(name); claim == null; claim = Claim.take(name)) {
                patience.await("the lock");
            }
            while (!tryLock()) {
                patience.await("the lock");
            }
            if (refused != null) {
                held = true;
                throw refused;
            }
        } catch (IOException e) {
            throw FaroException.io(role, path, "to take the publishing lock", e);
        }
    }

    /** Makes steps 2 to 4; false to start again. */
    private boolean tryLock() throws IOException {
        key = null;
        BasicFileAttributes before = attributes();
        FileChannel made = before == null ? create() : null;
        try {
            before = before == null ? attributes() : before;
            if (before == null) {
                return false;
            }
            if (!before.isRegularFile()) {
                // Opening a pipe would wait.
                throw new FileSystemException(path.toString(), null, "not a regular file");
            }
            key = before.fileKey();
            channel = open();
        } catch (IOException e) {
            removeMade(made, e);
            throw e;
        } finally {
            if (made != null) {
                // Closed before the lock is taken, because closing it afterwards would release the lock.
                made.close();
            }
        }
        if (channel != null) {
            record = RecordLock.tryTake(channel, key);
        }
        if (record != null && isNamed()) {
            return true;
        }
        closeFile();
        return false;
    }

    /** Step 4: whether the name still belongs to the file that is locked. */
    private boolean isNamed() throws IOException {
        if (!recordIsOfNamed()) {
            return false;
        }
        BasicFileAttributes attributes = attributes();
        key = attributes == null ? null : attributes.fileKey();
        return attributes != null;
    }

    private boolean recordIsOfNamed() throws IOException {
        try {
            named = open();
            return named != null && record.isOf(named);
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException e) {
            // The file may belong to another process, so it cannot be removed here, but after another attempt.
            if (refused != null) {
                throw e;
            }
            refused = e;
            return false;
        }
    }

    /** Removes the file that this made and cannot open, unless another process has its lock by now. */
    private void removeMade(FileChannel made, IOException error) {
        if (made == null) {
            return;
        }
        try {
            RecordLock madeLock = RecordLock.tryTake(made, key);
            if (madeLock != null) {
                if (FileKey.has(path, key)) {
                    Files.deleteIfExists(path);
                }
                madeLock.close(made);
            }
        } catch (IOException e) {
            // The empty file stays, and does no harm.
            error.addSuppressed(e);
        }
    }

    private void closeFile() {
        try {
            if (named != null) {
                named.close();
            }
        } catch (IOException e) {
            // The channel was not used.
        }
        named = null;
        try {
            if (record != null) {
                record.close(channel);
            } else if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            // The channel was not used to write.
        }
        record = null;
        channel = null;
    }

    private BasicFileAttributes attributes() throws IOException {
        try {
            return FileKey.attributes(path);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /** Makes the file; null if it exists by now. */
    private FileChannel create() throws IOException {
        try {
            return FileChannel.open(path, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
        } catch (FileAlreadyExistsException e) {
            return null;
        }
    }

    private FileChannel open() throws IOException {
        try {
            return FileChannel.open(path, Set.of(StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    private void giveBack() {
        refused = null;
        try {
            if (held && FileKey.has(path, key)) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            // The empty file stays, and does no harm.
        } finally {
            held = false;
            close();
        }
    }

    private void close() {
        closeFile();
        if (claim != null) {
            claim.close();
            claim = null;
        }
    }
}
