package dev.faro.internal.storage;

import dev.faro.FaroException;
import dev.faro.FileRole;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Objects;
import java.util.Set;

/**
 * A file that is inspected. Until {@link #close}, no one else writes, repairs or cleans it, unless a living writer
 * already has it (PUB-6).
 */
public final class HeldFile implements Closeable {
    private static final int START = 64;

    private final FileRole role;
    private final Path path;
    private final BasicFileAttributes attributes;
    private final Claim claim;
    private final FileChannel channel;
    /** A second channel of a locked file, which shows that the name belongs to it. */
    private final FileChannel named;
    private final RecordLock lock;

    private HeldFile(FileRole role, Path path, BasicFileAttributes attributes, Claim claim, FileChannel channel,
            FileChannel named, RecordLock lock) {
        this.role = role;
        this.path = path;
        this.attributes = attributes;
        this.claim = claim;
        this.channel = channel;
        this.named = named;
        this.lock = lock;
    }

    /**
     * Claims, opens and locks a file.
     *
     * @return null if no regular file has the name
     * @throws FaroException {@code io}
     */
    public static HeldFile take(FileRole role, Path path) throws FaroException {
        return take(role, path, null);
    }

    /** Takes the file of a publishing lock, as {@link #take} does, after waiting for the turn. */
    public static HeldFile takeLock(Path path) throws FaroException {
        try {
            return take(null, path, Claim.ofName(path));
        } catch (FaroException e) {
            throw e;
        } catch (IOException e) {
            throw FaroException.io(null, path, "to open the file", e);
        }
    }

    private static HeldFile take(FileRole role, Path path, String turn) throws FaroException {
        try {
            BasicFileAttributes before = FileKey.attributes(path);
            if (!before.isRegularFile()) {
                return null;
            }
            // The claim comes first: closing a file that this process is writing would lose its record lock.
            Claim claim = Claim.take(turn == null ? Claim.ofFile(path, before.fileKey()) : turn);
            return claim == null ? new HeldFile(role, path, before, null, null, null, null)
                    : open(role, path, before.fileKey(), claim);
        } catch (NoSuchFileException e) {
            return null;
        } catch (IOException e) {
            throw FaroException.io(role, path, "to open the file", e);
        }
    }

    private static HeldFile open(FileRole role, Path path, Object key, Claim claim) throws IOException {
        HeldFile held = null;
        FileChannel channel = null;
        FileChannel named = null;
        RecordLock lock = null;
        try {
            channel = open(path);
            if (FileKey.has(path, key)) {
                lock = RecordLock.tryTake(channel, key);
                named = lock == null ? null : open(path);
                BasicFileAttributes attributes = FileKey.attributes(path);
                // The name may belong to another file by now.
                boolean same = Objects.equals(key, attributes.fileKey()) && (lock == null || lock.isOf(named));
                held = same ? new HeldFile(role, path, attributes, claim, channel, named, lock) : null;
            }
            return held;
        } finally {
            if (held == null) {
                close(channel, named, lock, claim);
            }
        }
    }

    private static FileChannel open(Path path) throws IOException {
        return FileChannel.open(
                path, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
    }

    /** The path of the file. */
    public Path path() {
        return path;
    }

    /** Whether a living writer has the file. */
    public boolean isLiving() {
        return lock == null;
    }

    /** Whether the file is open. A file of a living writer in this process is not. */
    public boolean isOpen() {
        return channel != null;
    }

    /** The size of the file in bytes. */
    public long size() {
        return attributes.size();
    }

    /** When the file was last changed. */
    public FileTime changed() {
        return attributes.lastModifiedTime();
    }

    /**
     * The first bytes of an open file, little-endian: 64, or all if it is shorter.
     *
     * @throws FaroException {@code io}
     */
    public ByteBuffer start() throws FaroException {
        ByteBuffer bytes = ByteBuffer.allocate(START).order(ByteOrder.LITTLE_ENDIAN);
        try {
            while (bytes.hasRemaining() && channel.read(bytes, bytes.position()) > 0) {
                // One read is usually enough.
            }
        } catch (IOException e) {
            throw FaroException.io(role, path, "the file's first bytes", e);
        }
        return bytes.flip();
    }

    /** Whether a name belongs to this file; always false if the system has no file numbers. */
    public boolean isNamed(Path name) throws FaroException {
        try {
            return attributes.fileKey() != null && FileKey.has(name, attributes.fileKey());
        } catch (IOException e) {
            throw FaroException.io(role, name, "to look at the file", e);
        }
    }

    /**
     * Syncs an open file to the device.
     *
     * @throws FaroException {@code io}
     */
    public void sync() throws FaroException {
        try {
            channel.force(true);
        } catch (IOException e) {
            throw FaroException.io(role, path, "to sync", e);
        }
    }

    private static void close(FileChannel channel, FileChannel named, RecordLock lock, Claim claim) {
        try {
            if (named != null) {
                named.close();
            }
        } catch (IOException e) {
            // The channel was not used.
        }
        try {
            if (lock != null) {
                lock.close(channel);
            } else if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            // The channel was not used to write.
        } finally {
            if (claim != null) {
                claim.close();
            }
        }
    }

    @Override
    public void close() {
        close(channel, named, lock, claim);
    }
}
