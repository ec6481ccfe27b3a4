package dev.faro.internal.storage;

import java.io.Closeable;
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
 * A file to be read by position that outlasts interrupts. Interrupting a thread inside a {@link FileChannel} closes the
 * channel for all its users; here only the interrupted thread's own call fails, with {@link InterruptedIOException}, and
 * whoever reads next opens the same file anew. Safe to share between threads.
 */
final class LastingChannel implements Closeable {
    /** Calls in a row that may bring nothing: a channel of a file never should. */
    private static final int PATIENCE = 100;

    private final Path path;
    /** The file behind the path when it was opened: null where the system has no such key. */
    private final Object key;
    /** What the file begins with, once somebody knows it; so a name that was given to another file is found. */
    private volatile ByteBuffer beginning = ByteBuffer.allocate(0);
    private volatile FileChannel channel;
    private boolean closed;

    private LastingChannel(Path path, Object key, FileChannel channel) {
        this.path = path;
        this.key = key;
        this.channel = channel;
    }

    static LastingChannel open(Path path) throws IOException {
        Object key = keyOfRegular(path);
        FileChannel again = Claim.reopen(Claim.ofFile(path, key));
        return new LastingChannel(path, key, again == null ? FileChannel.open(path, StandardOpenOption.READ) : again);
    }

    /** What tells the file from others; asked before it is opened, since opening a pipe waits for who writes (OPN-4). */
    private static Object keyOfRegular(Path path) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
        if (!attributes.isRegularFile()) {
            throw new FileSystemException(path.toString(), null, "not a regular file");
        }
        return attributes.fileKey();
    }

    /** Tells what the file begins with: a header, which has 16 random bytes. */
    void identify(ByteBuffer bytes) {
        beginning = bytes.duplicate().clear().asReadOnlyBuffer();
    }

    private interface Call {
        long on(FileChannel channel) throws IOException;
    }

    /** Fills what it can of a buffer, at least one byte; -1 at the end of the file. */
    int read(ByteBuffer target, long offset) throws IOException {
        return (int) lasting(open -> readSome(open, target, offset));
    }

    private static int readSome(FileChannel open, ByteBuffer target, long offset) throws IOException {
        for (int i = 0; i < PATIENCE; i++) {
            int count = open.read(target, offset);
            if (count != 0) {
                return count;
            }
        }
        throw new IOException("reading brings no bytes and no end of the file");
    }

    long size() throws IOException {
        return lasting(FileChannel::size);
    }

    private long lasting(Call call) throws IOException {
        while (true) {
            // A channel would close itself for that, and the others would have to open it again.
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

    /** Opens the file anew, unless it was closed on purpose or another thread did it. */
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
        FileChannel again = FileChannel.open(path, StandardOpenOption.READ);
        try {
            if (!beginsRight(again)) {
                throw replaced();
            }
            channel = again;
        } catch (ClosedByInterruptException e) {
            throw interrupted(e);
        } finally {
            if (channel != again) {
                close(again);
            }
        }
    }

    private NoSuchFileException replaced() {
        return new NoSuchFileException(
                path.toString(), null, "an interrupt closed it, and the name belongs to another file by now");
    }

    private boolean beginsRight(FileChannel again) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(beginning.limit());
        while (bytes.hasRemaining() && readSome(again, bytes, bytes.position()) > 0) {
            // One read is all it takes, as a rule.
        }
        return bytes.flip().equals(beginning.duplicate());
    }

    /** Not before the file is written, if this process does it. */
    private void close(FileChannel open) throws IOException {
        Claim.close(Claim.ofFile(path, key), open, true);
    }

    @Override
    public synchronized void close() throws IOException {
        closed = true;
        close(channel);
    }
}
