package dev.faro.file;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * One file to be read by position, safe to share between threads.
 *
 * <p>A thread that is interrupted before or inside a call gets {@code io} with an
 * {@link java.io.InterruptedIOException} as cause and stays interrupted. Other threads read on: the file is opened anew
 * when the interrupt closed it. They get {@code io} if it is not there any more, or its name belongs to another file.
 */
public final class InputFile implements Closeable {
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

    /** Tells what the file begins with, so that it is known when it must be opened anew. */
    public void identify(ByteBuffer header) {
        channel.identify(header);
    }

    /** What the file is to its output. */
    public FileRole role() {
        return role;
    }

    /** Where the file is. */
    public Path path() {
        return path;
    }

    /**
     * The size in bytes, now.
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
     * Fills what remains of a buffer with the bytes at an offset.
     *
     * @throws FaroException {@code io}, or {@code truncated} at the file's size if the bytes are not there (BLK-8)
     */
    public void readFully(ByteBuffer target, long offset) throws FaroException {
        long at = offset;
        try {
            while (target.hasRemaining()) {
                int count = channel.read(target, at);
                if (count < 0) {
                    throw fault(
                            ErrorCode.TRUNCATED, channel.size(), "bytes to " + (at + target.remaining()), "end of file");
                }
                at += count;
            }
        } catch (FaroException e) {
            throw e;
        } catch (IOException e) {
            throw FaroException.io(role, path, "bytes at " + at, e);
        }
    }

    /** A fault of this file. */
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
