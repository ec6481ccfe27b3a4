package dev.faro.file;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * One file to be read by position, safe to share between threads. As with every {@link FileChannel}, interrupting a
 * thread that reads closes the channel for all.
 */
public final class InputFile implements Closeable {
    private final FileRole role;
    private final Path path;
    private final FileChannel channel;

    private InputFile(FileRole role, Path path, FileChannel channel) {
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
            return new InputFile(role, path, FileChannel.open(path, StandardOpenOption.READ));
        } catch (IOException e) {
            throw FaroException.io(role, path, "a readable file", e);
        }
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
