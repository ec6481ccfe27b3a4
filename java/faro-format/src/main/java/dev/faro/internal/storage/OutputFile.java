package dev.faro.internal.storage;

import dev.faro.FaroException;
import dev.faro.FileRole;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/**
 * A file to append to. A buffer collects what callers write. Not for several threads. An interrupt during a call closes
 * the file for good, as with every {@link FileChannel}: the call fails.
 *
 * <p>A caller reserves space with {@link #reserve}, fills the buffer from the returned index on, and calls
 * {@link #advance} with the number of bytes to keep.
 */
public final class OutputFile implements Closeable {
    /**
     * The maximum size of a write in bytes. Writes end at multiples of it. Systems that allocate the page cache in
     * pieces as large as the write take small pieces from memory in use, and large ones from memory that was unused for
     * long.
     */
    private static final int PIECE = 64 << 10;
    /**
     * The size of the buffer in bytes: some pieces, which fit into a processor's cache, and the block that exceeds
     * them.
     */
    private static final int BUFFER = 3 * PIECE + (4 << 10);
    /** The size of the buffer for an index file, where every message is written at once. */
    private static final int SMALL_BUFFER = 1 << 12;
    /** The maximum number of consecutive writes without a byte. A channel of a file should never have one. */
    private static final int PATIENCE = 100;
    /** The maximum number of bytes that are held back, see {@link #holdBack}. */
    private static final int MAX_HELD = 1 << 30;

    private static final ByteBuffer NO_BYTES = allocate(0);

    private final FileRole role;
    private final Path path;
    private final OpenFile file;
    private final FileChannel channel;
    private final int bufferSize;
    private ByteBuffer buffer;
    private int used;
    private long written;
    private boolean held;

    private OutputFile(FileRole role, OpenFile file, ByteBuffer buffer, long written) {
        this.role = role;
        this.path = file.path();
        this.file = file;
        this.channel = file.channel();
        this.bufferSize = buffer.capacity();
        this.written = written;
        this.buffer = buffer;
    }

    /**
     * Makes a new file. It refuses an existing one, because a program that knows the file_id can predict temporary
     * names. Until the file is closed, others take it for a living writer's (PUB-6).
     *
     * @throws FaroException {@code io}
     */
    public static OutputFile create(FileRole role, Path path) throws FaroException {
        return create(role, path, false);
    }

    /**
     * Makes a new file, as {@link #create(FileRole, Path)} does.
     *
     * @param replacing whether to remove a file with the same name
     * @throws FaroException {@code io}
     */
    public static OutputFile create(FileRole role, Path path, boolean replacing) throws FaroException {
        // The buffer comes before the file, because memory may be short.
        ByteBuffer buffer = allocate(role == FileRole.INDEX ? SMALL_BUFFER : BUFFER);
        try {
            return new OutputFile(role, OpenFile.create(path, replacing), buffer, 0);
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
    public static OutputFile cut(FileRole role, Path path, long size) throws FaroException {
        ByteBuffer buffer = allocate(SMALL_BUFFER);
        try {
            OpenFile file = OpenFile.existing(path);
            try {
                file.channel().truncate(size);
                return new OutputFile(role, file, buffer, size);
            } catch (IOException e) {
                file.close();
                throw e;
            }
        } catch (IOException e) {
            throw FaroException.io(role, path, "a file to repair", e);
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

    private static ByteBuffer allocate(int size) {
        return ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The role of the file in its output. */
    public FileRole role() {
        return role;
    }

    /** The path of the file. */
    public Path path() {
        return path;
    }

    /** The offset of the next byte, after all bytes so far, written or not. */
    public long position() {
        return written + used;
    }

    /** The buffer to fill; {@link #reserve} may replace it. Direct, little-endian. */
    public ByteBuffer buffer() {
        return buffer;
    }

    /**
     * Reserves space in the buffer.
     *
     * @return the index in {@link #buffer} where the {@code size} bytes begin
     * @throws FaroException {@code io}
     */
    public int reserve(int size) throws FaroException {
        if (size <= buffer.capacity() - used) {
            return used;
        }
        long wanted = (long) used + size;
        if (held && wanted <= MAX_HELD) {
            grow((int) Math.min(MAX_HELD, Math.max(wanted, 2L * buffer.capacity())));
            return used;
        }
        writePieces();
        if (size > buffer.capacity() - used) {
            flush();
        }
        if (size > buffer.capacity()) {
            buffer = allocate(size);
        }
        return used;
    }

    /** Writes up to the last boundary between pieces, and keeps the rest. */
    private void writePieces() throws FaroException {
        int whole = (int) ((written + used & -PIECE) - written);
        if (whole > 0) {
            int rest = used - whole;
            write(whole);
            buffer.put(0, buffer, whole, rest);
            used = rest;
        }
    }

    private void grow(int capacity) {
        ByteBuffer larger = allocate(capacity);
        larger.put(0, buffer, 0, used);
        buffer = larger;
    }

    /** Appends the next {@code size} bytes of the buffer. */
    public void advance(int size) {
        used += size;
    }

    /**
     * Whether to keep all bytes in memory until {@link #flush}, so that readers that follow the file do not see them.
     * If there is more than a gigabyte, the rest is written nevertheless.
     */
    public void holdBack(boolean hold) {
        held = hold;
    }

    /**
     * Writes the appended bytes.
     *
     * @throws FaroException {@code io}
     */
    public void flush() throws FaroException {
        write(used);
        used = 0;
        if (buffer.capacity() > 4 * bufferSize) {
            buffer = allocate(bufferSize);
        }
    }

    private void write(int count) throws FaroException {
        try {
            ByteBuffer source = buffer.duplicate().position(0);
            long at = written;
            long end = written + count;
            int idle = 0;
            while (at < end) {
                source.limit((int) (Math.min(end, (at & -PIECE) + PIECE) - written));
                int taken = channel.write(source, at);
                idle = taken == 0 ? idle + 1 : 0;
                if (idle == PATIENCE) {
                    throw new IOException("a write accepted no bytes");
                }
                at += taken;
            }
            written = at;
        } catch (IOException e) {
            throw FaroException.io(role, path, "to write " + count + " bytes at " + written, e);
        }
    }

    /**
     * Removes everything from an offset on.
     *
     * @throws FaroException {@code io}
     */
    public void rewind(long position) throws FaroException {
        if (position >= written) {
            used = (int) (position - written);
            return;
        }
        try {
            channel.truncate(position);
        } catch (IOException e) {
            throw FaroException.io(role, path, "to cut at " + position, e);
        }
        written = position;
        used = 0;
    }

    /**
     * Cuts the file, open or closed, and drops what was not written. The file is not used after that.
     *
     * @throws IOException the system's error, for a caller that has another error to report
     */
    public void takeBack(long position) throws IOException {
        used = 0;
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
            Files.deleteIfExists(name);
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
     * Writes the appended bytes, and syncs them to the device if {@code sync} is true.
     *
     * @throws FaroException {@code io}
     */
    public void complete(boolean sync) throws FaroException {
        if (sync) {
            sync();
        } else {
            flush();
        }
    }

    /**
     * Writes the appended bytes and syncs the file to the device.
     *
     * @throws FaroException {@code io}
     */
    public void sync() throws FaroException {
        flush();
        try {
            channel.force(false);
        } catch (IOException e) {
            throw FaroException.io(role, path, "to sync", e);
        }
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
            throw FaroException.io(role, path, "to release the lock", e);
        }
    }

    /**
     * Hands over a released file, with its open channel. The file is not used here after that.
     *
     * @param name the final name
     * @param header the first bytes of the file
     */
    public WrittenFile handOver(Path name, ByteBuffer header) {
        buffer = NO_BYTES;
        used = 0;
        return new WrittenFile(name, file.key(), channel, header);
    }

    /** Closes the file for good. Bytes that were not flushed are lost. */
    @Override
    public void close() throws FaroException {
        buffer = NO_BYTES;
        used = 0;
        try {
            file.close();
        } catch (IOException e) {
            throw FaroException.io(role, path, "to close", e);
        }
    }
}
