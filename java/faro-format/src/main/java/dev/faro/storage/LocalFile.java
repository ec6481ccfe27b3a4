package dev.faro.storage;

import dev.faro.FileHeader;
import dev.faro.internal.storage.Claim;
import dev.faro.internal.storage.WrittenFile;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;

/**
 * A file of a file system, which outlasts interrupts. Interrupting a thread inside a {@link FileChannel} closes the
 * channel for all its users. Here only the call of the interrupted thread fails, with {@link InterruptedIOException},
 * and the next call opens the file again. It fails if the file no longer exists, or its name belongs to another file.
 * Safe to share between threads, also while one of them closes the file.
 */
public final class LocalFile implements StoredFile {
    /** The maximum number of consecutive reads without a byte. A channel of a file should never have one. */
    private static final int PATIENCE = 100;

    private final Path path;
    /** The key of the file when it was opened; null if the system has none. */
    private final Object key;
    /**
     * The first bytes of the file, as far as they were read: a header, which has 16 random bytes. They show whether the
     * name belongs to another file by now.
     */
    private volatile ByteBuffer beginning = ByteBuffer.allocate(0);
    /** All bytes of a small file that this process has just written; null for other files. */
    private final ByteBuffer whole;
    private volatile FileChannel channel;
    private volatile boolean closed;

    private LocalFile(Path path, Object key, FileChannel channel, ByteBuffer whole) {
        this.path = path;
        this.key = key;
        this.channel = channel;
        this.whole = whole;
    }

    /**
     * Opens a file for reading.
     *
     * @throws IOException if it is missing, unreadable, or not a regular file; a pipe is refused without waiting
     */
    public static LocalFile open(Path path) throws IOException {
        Objects.requireNonNull(path, "path");
        Object key = keyOfRegular(path);
        FileChannel reopened = Claim.reopen(Claim.ofFile(path, key));
        FileChannel channel = reopened == null ? FileChannel.open(path, StandardOpenOption.READ) : reopened;
        return new LocalFile(path, key, channel, null);
    }

    /**
     * Takes a file that this process has just written over from its writer; for other packages of this library, not for
     * callers.
     */
    @SuppressWarnings("exports")
    public static LocalFile of(WrittenFile written) {
        LocalFile file = new LocalFile(written.path(), written.key(), written.channel(),
                written.isWhole() ? written.beginning().asReadOnlyBuffer() : null);
        file.identify(written.beginning(), 0, written.beginning().limit());
        return file;
    }

    /** The key of the file. It is read before opening, because opening a pipe would wait for its writer (OPN-4). */
    private static Object keyOfRegular(Path path) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
        if (!attributes.isRegularFile()) {
            throw new FileSystemException(path.toString(), null, "not a regular file");
        }
        return attributes.fileKey();
    }

    /** Keeps the first bytes of the file, which were read into a buffer from an index on. */
    private synchronized void identify(ByteBuffer target, int index, int count) {
        int size = Math.min(count, FileHeader.SIZE);
        if (size > beginning.limit()) {
            beginning = ByteBuffer.allocate(size).put(0, target, index, size).asReadOnlyBuffer();
        }
    }

    private interface Call {
        long on(FileChannel channel) throws IOException;
    }

    /** The path that the file was opened with. */
    public Path path() {
        return path;
    }

    @Override
    public String name() {
        return path.toString();
    }

    @Override
    public int read(long offset, ByteBuffer target) throws IOException {
        if (!target.hasRemaining()) {
            return 0;
        }
        if (whole != null) {
            return readWhole(offset, target);
        }
        int index = target.position();
        int count = (int) lasting(open -> readSome(open, target, offset));
        if (offset == 0 && count > beginning.limit() && beginning.limit() < FileHeader.SIZE) {
            identify(target, index, count);
        }
        return count;
    }

    private int readWhole(long offset, ByteBuffer target) throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        if (Thread.currentThread().isInterrupted()) {
            throw interrupted(null);
        }
        if (offset >= whole.limit()) {
            return -1;
        }
        int count = (int) Math.min(target.remaining(), whole.limit() - offset);
        int at = target.position();
        target.put(at, whole, (int) offset, count).position(at + count);
        return count;
    }

    private static int readSome(FileChannel open, ByteBuffer target, long offset) throws IOException {
        for (int i = 0; i < PATIENCE; i++) {
            int count = open.read(target, offset);
            if (count != 0) {
                return count;
            }
        }
        throw new IOException("reading returns neither bytes nor the end of the file");
    }

    @Override
    public long size() throws IOException {
        return lasting(FileChannel::size);
    }

    private long lasting(Call call) throws IOException {
        while (true) {
            // In an interrupted thread, a call would close the channel, and others would have to open it again.
            if (Thread.currentThread().isInterrupted()) {
                throw interrupted(null);
            }
            FileChannel open = channel;
            try {
                return call.on(open);
            } catch (ClosedByInterruptException e) {
                throw interrupted(e);
            } catch (ClosedChannelException e) {
                replace(open, e);
            }
        }
    }

    private static InterruptedIOException interrupted(Throwable cause) {
        InterruptedIOException e = new InterruptedIOException("the thread was interrupted");
        e.initCause(cause);
        return e;
    }

    /** Opens the file again, unless it was closed on purpose or another thread has opened it. */
    private synchronized void replace(FileChannel gone, ClosedChannelException why) throws IOException {
        if (closed) {
            throw why;
        }
        if (channel != gone) {
            return;
        }
        if (!Objects.equals(key, keyOfRegular(path))) {
            throw replaced();
        }
        FileChannel reopened = FileChannel.open(path, StandardOpenOption.READ);
        try {
            if (!beginsRight(reopened)) {
                throw replaced();
            }
            channel = reopened;
        } catch (ClosedByInterruptException e) {
            throw interrupted(e);
        } finally {
            if (channel != reopened) {
                close(reopened);
            }
        }
    }

    private NoSuchFileException replaced() {
        return new NoSuchFileException(
                path.toString(), null, "an interrupt closed the file, and its name now belongs to another one");
    }

    private boolean beginsRight(FileChannel reopened) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(beginning.limit());
        while (bytes.hasRemaining() && readSome(reopened, bytes, bytes.position()) > 0) {
            // One read is usually enough.
        }
        return bytes.flip().equals(beginning.duplicate());
    }

    /** If this process is writing the file, the channel stays open until that ends. */
    private void close(FileChannel open) throws IOException {
        Claim.close(Claim.ofFile(path, key), open, true);
    }

    @Override
    public synchronized void close() throws IOException {
        if (closed) {
            // The process's own writer may have the channel, and lend it to another reader.
            return;
        }
        closed = true;
        close(channel);
    }
}
