package dev.faro.internal.storage;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileRole;
import dev.faro.internal.bytes.Faults;
import dev.faro.internal.bytes.HeaderBytes;
import dev.faro.internal.bytes.Tail;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/**
 * A file that is read by position. Safe to share between threads.
 *
 * <p>A thread that is interrupted before or during a call gets {@code io} with an
 * {@link java.io.InterruptedIOException} as cause, and stays interrupted. Other threads continue to read: if the
 * interrupt closed the file, it is opened again. They get {@code io} if the file no longer exists, or its name belongs
 * to another file.
 */
public final class InputFile implements Closeable, Faults {
    private final FileRole role;
    private final Path path;
    private final LastingChannel channel;

    private InputFile(FileRole role, Path path, LastingChannel channel) {
        this.role = role;
        this.path = path;
        this.channel = channel;
    }

    /**
     * Opens a file for reading.
     *
     * @throws FaroException {@code io} if it is missing or unreadable (OPN-4)
     */
    public static InputFile open(FileRole role, Path path) throws FaroException {
        try {
            return new InputFile(role, path, LastingChannel.open(path));
        } catch (IOException e) {
            throw FaroException.io(role, path, "a readable file", e);
        }
    }

    /**
     * Reads and checks the header (HDR-1). If the file has to be opened again, it is recognized by this header.
     *
     * @throws FaroException the first check that fails, or {@code io}
     */
    public FileHeader readHeader() throws FaroException {
        int size = (int) Math.min(size(), FileHeader.SIZE);
        ByteBuffer bytes = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        readFully(bytes, 0);
        FileHeader header = HeaderBytes.parse(bytes.clear(), this);
        channel.identify(bytes);
        return header;
    }

    /**
     * Reads the tail at the end of the file: checks 1 and 2 of OPN-2.
     *
     * @param size the size of the file
     * @throws FaroException {@code unfinished}, {@code checksum} or {@code io}
     */
    public Tail readTailAtEnd(long size) throws FaroException {
        if (size < FileHeader.SIZE + Tail.SIZE) {
            throw fault(ErrorCode.UNFINISHED, size, "a tail", "the end of the file");
        }
        ByteBuffer bytes = tailBytes(size - Tail.SIZE);
        if (!Tail.hasMagic(bytes)) {
            throw fault(ErrorCode.UNFINISHED, size, "a tail", "other bytes");
        }
        return Tail.parse(bytes, size - Tail.SIZE, this);
    }

    /**
     * Reads the 24 bytes after a footer, which must be a tail (FOL-5).
     *
     * @throws FaroException {@code checksum} or {@code io}
     */
    public Tail readTail(long offset) throws FaroException {
        return Tail.parse(tailBytes(offset), offset, this);
    }

    private ByteBuffer tailBytes(long offset) throws FaroException {
        ByteBuffer bytes = ByteBuffer.allocate(Tail.SIZE).order(ByteOrder.LITTLE_ENDIAN);
        readFully(bytes, offset);
        return bytes.clear();
    }

    /** The role of the file in its output. */
    public FileRole role() {
        return role;
    }

    /** The path of the file. */
    public Path path() {
        return path;
    }

    /**
     * The current size in bytes.
     *
     * @throws FaroException {@code io}
     */
    public long size() throws FaroException {
        try {
            return channel.size();
        } catch (IOException e) {
            throw FaroException.io(role, path, "the file's size", e);
        }
    }

    /**
     * Fills the rest of a buffer with the bytes at an offset.
     *
     * @throws FaroException {@code io}, or {@code truncated} at the size of the file if it is too short (BLK-8)
     */
    public void readFully(ByteBuffer target, long offset) throws FaroException {
        long at = offset;
        try {
            while (target.hasRemaining()) {
                int count = channel.read(target, at);
                if (count < 0) {
                    throw fault(
                            ErrorCode.TRUNCATED, channel.size(), "bytes to " + (at + target.remaining()),
                            "end of file");
                }
                at += count;
            }
        } catch (FaroException e) {
            throw e;
        } catch (IOException e) {
            throw FaroException.io(role, path, "bytes at " + at, e);
        }
    }

    @Override
    public FaroException fault(ErrorCode code, long offset, String expected, Object found) {
        return new FaroException(code, role, path, offset, expected, String.valueOf(found), null);
    }

    @Override
    public void close() throws FaroException {
        try {
            channel.close();
        } catch (IOException e) {
            throw FaroException.io(role, path, "to close", e);
        }
    }
}
