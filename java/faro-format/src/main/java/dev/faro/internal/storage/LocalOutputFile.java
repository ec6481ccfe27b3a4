package dev.faro.internal.storage;

import dev.faro.FaroException;
import dev.faro.FileRole;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/**
 * A file of a file system to append to. An interrupt during a call closes the file for good, as with every
 * {@link FileChannel}: the call fails.
 */
public final class LocalOutputFile extends OutputFile {
    /** The maximum number of consecutive writes without a byte. A channel of a file should never have one. */
    private static final int PATIENCE = 100;

    private final Path path;
    private final OpenFile file;
    private final FileChannel channel;

    private LocalOutputFile(FileRole role, OpenFile file, ByteBuffer buffer, long written) {
        super(role, buffer, written);
        this.path = file.path();
        this.file = file;
        this.channel = file.channel();
    }

    /**
     * Makes a new file. It refuses an existing one, because a program that knows the file_id can predict temporary
     * names. Until the file is closed, others take it for a living writer's (PUB-6).
     *
     * @throws FaroException {@code io}
     */
    public static LocalOutputFile create(FileRole role, Path path) throws FaroException {
        return create(role, path, false);
    }

    /**
     * Makes a new file, as {@link #create(FileRole, Path)} does.
     *
     * @param replacing whether to remove a file with the same name
     * @throws FaroException {@code io}
     */
    public static LocalOutputFile create(FileRole role, Path path, boolean replacing) throws FaroException {
        // The buffer comes before the file, because memory may be short.
        ByteBuffer buffer = firstBuffer();
        try {
            return new LocalOutputFile(role, OpenFile.create(path, replacing), buffer, 0);
        } catch (IOException e) {
            throw FaroException.io(role, path, "a new file", e);
        }
    }

    /**
     * Opens an existing file, cuts it, and appends after the cut.
     *
     * @param size the size after the cut, in bytes
     * @throws FaroException {@code io}
     */
    public static LocalOutputFile cut(FileRole role, Path path, long size) throws FaroException {
        ByteBuffer buffer = firstBuffer();
        try {
            OpenFile file = OpenFile.existing(path);
            try {
                file.channel().truncate(size);
                return new LocalOutputFile(role, file, buffer, size);
            } catch (IOException e) {
                file.close();
                throw e;
            }
        } catch (IOException e) {
            throw FaroException.io(role, path, "a file to repair", e);
        }
    }

    /**
     * Opens a file whose writer has ended, to append to it. Until it is closed, others take it for a living writer's
     * (PUB-6).
     *
     * @throws FaroException {@code io}; a living writer that has it is one reason
     */
    public static LocalOutputFile resume(FileRole role, Path path) throws FaroException {
        ByteBuffer buffer = firstBuffer();
        try {
            OpenFile file = OpenFile.resume(path);
            return new LocalOutputFile(role, file, buffer, file.channel().size());
        } catch (IOException e) {
            throw FaroException.io(role, path, "a file without a living writer", e);
        }
    }

    /** The name of a file until it is complete (PUB-2). */
    public static Path temporaryName(Path path, UUID fileId) {
        return temporaryName(path, shortId(fileId));
    }

    /** The same for the first 8 hexadecimal digits of a file_id. */
    public static Path temporaryName(Path path, String shortId) {
        return path.resolveSibling(path.getFileName() + "." + shortId + ".tmp");
    }

    /** The part of a file_id in file names: the first 8 hexadecimal digits. */
    public static String shortId(UUID fileId) {
        return fileId.toString().substring(0, 8);
    }

    /**
     * Syncs the folder of a file.
     *
     * @throws FaroException {@code io}
     */
    public static void syncFolder(FileRole role, Path file) throws FaroException {
        Path folder = file.toAbsolutePath().getParent();
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        } catch (IOException e) {
            throw FaroException.io(role, folder, "to sync the folder", e);
        }
    }

    /** The path of the file. */
    public Path path() {
        return path;
    }

    /** The identity of the file, or null if the system has none. */
    public Object key() {
        return file.key();
    }

    @Override
    public FaroException failed(String wanted, Throwable cause) {
        return FaroException.io(role(), path, wanted, cause);
    }

    @Override
    protected void write(ByteBuffer source, long offset) throws IOException {
        int end = source.limit();
        long at = offset;
        int idle = 0;
        // Not more at once, even of a large block: systems allocate the page cache in pieces as large as the write, and
        // take the largest from memory that was unused for long.
        while (source.position() < end) {
            source.limit((int) Math.min(end, source.position() + (at & -PIECE) + PIECE - at));
            int taken = channel.write(source, at);
            idle = taken == 0 ? idle + 1 : 0;
            if (idle == PATIENCE) {
                throw new IOException("a write accepted no bytes");
            }
            at += taken;
        }
    }

    @Override
    public boolean canCut() {
        return true;
    }

    @Override
    protected void truncate(long size) throws IOException {
        channel.truncate(size);
    }

    @Override
    protected void force() throws IOException {
        channel.force(false);
    }

    /**
     * Cuts the file, open or closed, and drops what was not written. The file is not used after that.
     *
     * @throws IOException the system's error, for a caller that has another error to report
     */
    public void takeBack(long position) throws IOException {
        dropUnwritten();
        if (channel.isOpen()) {
            channel.truncate(position);
            return;
        }
        if (has(path)) {
            try (FileChannel reopened = FileChannel.open(path, StandardOpenOption.WRITE)) {
                reopened.truncate(position);
            }
        }
    }

    /**
     * Removes a name of the file. If the name belongs to another file by now, it stays, because that file may have
     * replaced this one.
     *
     * @throws IOException the system's error
     */
    public void remove(Path name) throws IOException {
        if (has(name)) {
            FileKey.deleteIfExists(name);
        }
    }

    /**
     * Whether a name belongs to this file.
     *
     * @throws IOException the system's error
     */
    public boolean has(Path name) throws IOException {
        return file.has(name);
    }

    /**
     * Lets others take a complete file for a finished one, and leaves it open.
     *
     * @throws FaroException {@code io}
     */
    public void release() throws FaroException {
        try {
            file.release();
        } catch (IOException e) {
            throw failed("to release the lock", e);
        }
    }

    /**
     * Hands over a released file, with its open channel. The file is not used here after that.
     *
     * @param name the final name
     * @param beginning the first bytes of the file, or all of them
     */
    public WrittenFile handOver(Path name, ByteBuffer beginning) {
        long size = position();
        releaseBuffer();
        return new WrittenFile(name, file.key(), channel, beginning, beginning.limit() == size);
    }

    @Override
    protected void closeFile() throws IOException {
        file.close();
    }
}
