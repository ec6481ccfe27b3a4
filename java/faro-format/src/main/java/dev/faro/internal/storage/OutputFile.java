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
 * One file to be appended to, through one buffer that collects what callers put in place. Not for several threads. An
 * interrupt inside a call closes the file for good, as it does with every {@link FileChannel}: the call fails.
 *
 * <p>A caller asks for room with {@link #reserve}, fills the buffer from the index that it is given, and says with
 * {@link #advance} how much of that counts.
 */
public final class OutputFile implements Closeable {
    /**
     * Bytes of a write at most, at multiples of which writes end. Systems that take memory for the page cache in pieces
     * as large as the write take small ones from what is in use, and large ones from where nobody was for long.
     */
    private static final int PIECE = 64 << 10;
    /** Bytes that are collected: some pieces, which a processor's cache holds, and the block that goes beyond them. */
    private static final int BUFFER = 3 * PIECE + (4 << 10);
    /** The same of an index, whose every message is written at once. */
    private static final int SMALL_BUFFER = 1 << 12;
    /** Writes in a row that may take nothing: a channel of a file never should. */
    private static final int PATIENCE = 100;
    /** Bytes that are held back at most, see {@link #holdBack}. */
    private static final int MOST_HELD = 1 << 30;

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
     * Makes a new file, refusing one that exists: names are predictable for who knows the file_id. Others take it for a
     * living writer's until it is closed (PUB-6).
     *
     * @throws FaroException {@code io}
     */
    public static OutputFile create(FileRole role, Path path) throws FaroException {
        return create(role, path, false);
    }

    /**
     * Makes a new file, as {@link #create(FileRole, Path)}.
     *
     * @param replacing whether to remove a file that has the name
     * @throws FaroException {@code io}
     */
    public static OutputFile create(FileRole role, Path path, boolean replacing) throws FaroException {
        // Before the file is made: there may be no memory for it.
        ByteBuffer buffer = allocate(role == FileRole.INDEX ? SMALL_BUFFER : BUFFER);
        try {
            return new OutputFile(role, OpenFile.create(path, replacing), buffer, 0);
        } catch (IOException e) {
            throw FaroException.io(role, path, "a new file", e);
        }
    }

    /**
     * Opens a file that is there, cuts it and appends behind the cut.
     *
     * @param size bytes that are kept
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
            throw FaroException.io(role, path, "a file to mend", e);
        }
    }

    /** The name that a file has until it is whole (PUB-2). */
    public static Path temporaryName(Path path, UUID fileId) {
        return temporaryName(path, shortId(fileId));
    }

    /** The same, by the first 8 hexadecimal digits of the file_id. */
    public static Path temporaryName(Path path, String shortId) {
        return path.resolveSibling(path.getFileName() + "." + shortId + ".tmp");
    }

    /** What names show of a file_id: its first 8 hexadecimal digits. */
    public static String shortId(UUID fileId) {
        return fileId.toString().substring(0, 8);
    }

    /**
     * Syncs the folder that a file's name stands in.
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

    /** What the file is to its output. */
    public FileRole role() {
        return role;
    }

    /** Where the file is. */
    public Path path() {
        return path;
    }

    /** The offset of the next byte: what was put so far, written or not. */
    public long position() {
        return written + used;
    }

    /** The buffer to be filled; it changes with {@link #reserve}. Direct, little-endian. */
    public ByteBuffer buffer() {
        return buffer;
    }

    /**
     * Makes room.
     *
     * @return the index in {@link #buffer} from which {@code size} bytes may be put
     * @throws FaroException {@code io}
     */
    public int reserve(int size) throws FaroException {
        if (size <= buffer.capacity() - used) {
            return used;
        }
        long wanted = (long) used + size;
        if (held && wanted <= MOST_HELD) {
            grow((int) Math.min(MOST_HELD, Math.max(wanted, 2L * buffer.capacity())));
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

    /** Counts the next {@code size} bytes of the buffer as put. */
    public void advance(int size) {
        used += size;
    }

    /**
     * Whether to keep all bytes in memory until {@link #flush}, so that nobody who follows the file sees them; a
     * gigabyte at most, more is written all the same.
     */
    public void holdBack(boolean hold) {
        held = hold;
    }

    /**
     * Writes what was put.
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
                    throw new IOException("writing takes no bytes");
                }
                at += taken;
            }
            written = at;
        } catch (IOException e) {
            throw FaroException.io(role, path, "to write " + count + " bytes at " + written, e);
        }
    }

    /**
     * Takes back everything from an offset on.
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
     * Cuts the file that nobody goes on with, open or closed by now; forgets what was not written.
     *
     * @throws IOException the system's, for the caller who has another error to report
     */
    public void takeBack(long position) throws IOException {
        used = 0;
        if (channel.isOpen()) {
            channel.truncate(position);
            return;
        }
        if (has(path)) {
            try (FileChannel again = FileChannel.open(path, StandardOpenOption.WRITE)) {
                again.truncate(position);
            }
        }
    }

    /**
     * Removes a name of the file. One that belongs to another file by now stays: somebody may have replaced this one.
     *
     * @throws IOException the system's
     */
    public void remove(Path name) throws IOException {
        if (has(name)) {
            Files.deleteIfExists(name);
        }
    }

    /**
     * Whether a name is this file's.
     *
     * @throws IOException the system's
     */
    public boolean has(Path name) throws IOException {
        return file.has(name);
    }

    /**
     * Writes what waits, and syncs it to the device if that is asked for.
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
     * Writes what was put and syncs the file to the device.
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

    /** Closes the file, which nobody writes then; what was not flushed is lost. */
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
