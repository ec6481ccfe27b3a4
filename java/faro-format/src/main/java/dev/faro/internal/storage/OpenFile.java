package dev.faro.internal.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;

/**
 * A file that is open for writing. A new one can be read too, so that a reader can take it over.
 *
 * @param key the identity of the file, or null if the system has none
 * @param claim shows other users in this process that the file is being written (PUB-6); null if another object has it
 * @param lock shows the same to other processes; null if {@code claim} is null
 */
record OpenFile(Path path, FileChannel channel, Object key, Claim claim, RecordLock lock) implements Closeable {
    /**
     * Makes a new file, and takes its claim and its record lock.
     *
     * @param replacing whether to replace a file with the same name, which is refused otherwise
     */
    static OpenFile create(Path path, boolean replacing) throws IOException {
        Patience patience = new Patience(Patience.MOST);
        while (true) {
            try {
                OpenFile file = make(path, patience);
                if (file != null) {
                    return file;
                }
            } catch (FileAlreadyExistsException e) {
                if (!replacing) {
                    throw e;
                }
                Files.deleteIfExists(path);
                patience.await("the name");
            }
        }
    }

    /** Opens a file that exists. */
    static OpenFile existing(Path path) throws IOException {
        Object key = FileKey.following(path);
        return new OpenFile(path, FileChannel.open(path, StandardOpenOption.WRITE), key, null, null);
    }

    /** Opens a file that exists, and takes its claim and its record lock. It fails if a living writer has them. */
    static OpenFile resume(Path path) throws IOException {
        Object key = FileKey.following(path);
        // Before the file is opened: closing it would give up the lock of a writer in this process.
        Claim claim = Claim.take(Claim.ofFile(path, key));
        if (claim == null) {
            throw new IOException("a living writer has it");
        }
        FileChannel channel = null;
        RecordLock lock = null;
        try {
            channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
            lock = RecordLock.tryTake(channel, key);
            if (lock == null) {
                throw new IOException("a living writer has it");
            }
            return new OpenFile(path, channel, key, claim, lock);
        } finally {
            if (lock == null) {
                if (channel != null) {
                    channel.close();
                }
                claim.close();
            }
        }
    }

    /** Returns null if the file was removed meanwhile by a program that took it for a dead writer's. */
    private static OpenFile make(Path path, Patience patience) throws IOException {
        FileChannel channel = FileChannel.open(
                path, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW));
        Claim claim = null;
        Object key = null;
        RecordLock lock = null;
        boolean held = false;
        try {
            BasicFileAttributes attributes = FileKey.attributes(path);
            if (attributes.size() != 0) {
                // A single file is replaced without the publishing lock (PUB-4), so the name belongs to another file by
                // now.
                return null;
            }
            key = attributes.fileKey();
            String name = Claim.ofFile(path, key);
            for (claim = Claim.take(name); claim == null; claim = Claim.take(name)) {
                patience.await("the new file");
            }
            for (lock = RecordLock.tryTake(channel, key); lock == null; lock = RecordLock.tryTake(channel, key)) {
                patience.await("the lock of the new file");
            }
            held = FileKey.has(path, key);
            return held ? new OpenFile(path, channel, key, claim, lock) : null;
        } catch (NoSuchFileException e) {
            return null;
        } finally {
            if (!held) {
                abandon(new OpenFile(path, channel, key, claim, lock));
            }
        }
    }

    private static void abandon(OpenFile file) throws IOException {
        try {
            if (file.key != null && file.has(file.path)) {
                Files.deleteIfExists(file.path);
            }
        } finally {
            file.close();
        }
    }

    /** Whether a name belongs to this file. */
    boolean has(Path name) throws IOException {
        return FileKey.has(name, key);
    }

    /** Gives up the record lock and then the claim of a new file, whose writer has finished; the channel stays open. */
    void release() throws IOException {
        lock.release();
        claim.close();
    }

    @Override
    public void close() throws IOException {
        if (claim == null) {
            Claim.close(Claim.ofFile(path, key), channel, false);
            return;
        }
        try {
            if (lock == null) {
                channel.close();
            } else {
                lock.close(channel);
            }
        } finally {
            claim.close();
        }
    }
}
