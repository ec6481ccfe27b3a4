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
 * A file that is looked at, which until {@link #close} no one else writes, mends or cleans; or that is a living writer's
 * (PUB-6).
 */
public final class HeldFile implements Closeable {
    private static final int START = 64;

    private final FileRole role;
    private final Path path;
    private final BasicFileAttributes attributes;
    private final Claim claim;
    private final FileChannel channel;
    private final RecordLock lock;

    private HeldFile(FileRole role, Path path, BasicFileAttributes attributes, Claim claim, FileChannel channel,
            RecordLock lock) {
        this.role = role;
        this.path = path;
        this.attributes = attributes;
        this.claim = claim;
        this.channel = channel;
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

    /** As {@link #take}, of the file of a publishing lock: in its turn. */
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
            // First: to close a file that this process is writing would lose its record lock.
            Claim claim = Claim.take(turn == null ? Claim.ofFile(path, before.fileKey()) : turn);
            return claim == null ? new HeldFile(role, path, before, null, null, null)
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
        RecordLock lock = null;
        try {
            channel = FileChannel.open(
                    path, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
            if (FileKey.has(path, key)) {
                lock = RecordLock.tryTake(channel, key);
                BasicFileAttributes attributes = FileKey.attributes(path);
                // Another file may have been given the name.
                held = Objects.equals(key, attributes.fileKey())
                        ? new HeldFile(role, path, attributes, claim, channel, lock) : null;
            }
            return held;
        } finally {
            if (held == null) {
                close(channel, lock, claim);
            }
        }
    }

    /** Where it is. */
    public Path path() {
        return path;
    }

    /** Whether it is a living writer's. */
    public boolean isLiving() {
        return lock == null;
    }

    /** Whether it is open: a living writer's of this process is not. */
    public boolean isOpen() {
        return channel != null;
    }

    /** Its bytes. */
    public long size() {
        return attributes.size();
    }

    /** When it was last changed. */
    public FileTime changed() {
        return attributes.lastModifiedTime();
    }

    /**
     * The first bytes of an open file, little-endian: 64, or as many as it has.
     *
     * @throws FaroException {@code io}
     */
    public ByteBuffer start() throws FaroException {
        ByteBuffer bytes = ByteBuffer.allocate(START).order(ByteOrder.LITTLE_ENDIAN);
        try {
            while (bytes.hasRemaining() && channel.read(bytes, bytes.position()) > 0) {
                // One read is all it takes, as a rule.
            }
        } catch (IOException e) {
            throw FaroException.io(role, path, "the file's first bytes", e);
        }
        return bytes.flip();
    }

    /** Whether a name is this file's; never where the system has no file numbers. */
    public boolean isNamed(Path name) throws FaroException {
        try {
            return attributes.fileKey() != null && FileKey.has(name, attributes.fileKey());
        } catch (IOException e) {
            throw FaroException.io(role, name, "to look at the file", e);
        }
    }

    /**
     * Brings an open file to the device.
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

    private static void close(FileChannel channel, RecordLock lock, Claim claim) {
        try {
            if (lock != null) {
                lock.close(channel);
            } else if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            // Nothing was written to it.
        } finally {
            if (claim != null) {
                claim.close();
            }
        }
    }

    @Override
    public void close() {
        close(channel, lock, claim);
    }
}
