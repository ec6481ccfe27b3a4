package dev.faro.internal.storage;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;

/**
 * The exclusive record lock of a whole file (PUB-5, PUB-6). The system releases it when the process closes any channel
 * of the file.
 */
final class RecordLock {
    private static final RecordLock NONE = new RecordLock(null);

    private final FileLock lock;

    private RecordLock(FileLock lock) {
        this.lock = lock;
    }

    /**
     * Takes the lock of a file that is open for writing, without waiting.
     *
     * @param fileKey if null, the system is treated as one without record locks, because its locks may keep readers out
     * @return null if another process has the lock; if the system has no record locks, an object that locks nothing
     */
    static RecordLock tryTake(FileChannel channel, Object fileKey) throws ClosedChannelException {
        if (fileKey == null) {
            return NONE;
        }
        try {
            FileLock lock = channel.tryLock();
            return lock == null ? null : new RecordLock(lock);
        } catch (OverlappingFileLockException e) {
            return null;
        } catch (ClosedChannelException e) {
            throw e;
        } catch (UnsupportedOperationException | IOException e) {
            return NONE;
        }
    }

    /**
     * Whether a name belongs to the locked file. File numbers alone cannot tell: Java does not know the number of an
     * open file, and a number is reused as soon as a file is removed. But the JVM refuses a second lock of one file.
     *
     * @param named a channel that was opened by the name after the lock was taken. If this returns true, it must stay
     *     open as long as the lock is needed, because closing it releases the lock
     */
    boolean isOf(FileChannel named) throws IOException {
        if (lock == null) {
            return true;
        }
        try {
            FileLock other = named.tryLock();
            if (other != null) {
                other.release();
            }
            return false;
        } catch (OverlappingFileLockException e) {
            return true;
        }
    }

    /** Releases the lock, and leaves the channel open. */
    void release() throws IOException {
        if (lock != null) {
            lock.release();
        }
    }

    /** Closes the channel, which releases the lock. */
    void close(FileChannel channel) throws IOException {
        boolean refused = false;
        try {
            release();
        } catch (IOException e) {
            // Closing the channel would fail in the same way, and leave it open.
            refused = true;
        }
        try {
            channel.close();
        } catch (IOException e) {
            if (!refused) {
                throw e;
            }
        }
    }
}
