package dev.faro.file;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;

/** The exclusive record lock of a whole file (PUB-5, PUB-6). It ends when its process closes any channel of the file. */
final class RecordLock {
    private RecordLock() {}

    /**
     * Takes the lock of a file that is open for writing, without waiting.
     *
     * @param fileKey without one the system is taken for one without record locks: what it has may keep readers out
     * @return false if another has it; true also where the system has none
     */
    static boolean tryTake(FileChannel channel, Object fileKey) throws ClosedChannelException {
        if (fileKey == null) {
            return true;
        }
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false;
        } catch (ClosedChannelException e) {
            throw e;
        } catch (UnsupportedOperationException | IOException e) {
            return true;
        }
    }
}
