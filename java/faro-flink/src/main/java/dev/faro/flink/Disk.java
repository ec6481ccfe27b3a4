package dev.faro.flink;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder on a disk to which only this task manager writes. Calls do not wait for the disk: what has to touch it is
 * done in an executor. Safe to share between threads.
 */
final class Disk {
    private static final Logger LOG = LoggerFactory.getLogger(Disk.class);
    private static final int PROBE_BYTES = 4 << 10;
    /** How long after a probe the next one may be. */
    private static final long PAUSE_NANOS = 1_000_000_000L;

    private final Path folder;
    private final Executor executor;
    private final LongSupplier clock;
    private final AtomicBoolean probing = new AtomicBoolean();
    private volatile boolean failed;
    private volatile long probedAt;

    /**
     * A disk that works.
     *
     * @param executor where the disk is tried
     * @param clock nanoseconds
     */
    Disk(Path folder, Executor executor, LongSupplier clock) {
        this.folder = folder;
        this.executor = executor;
        this.clock = clock;
        this.probedAt = clock.getAsLong() - PAUSE_NANOS;
    }

    Path folder() {
        return folder;
    }

    /** A path for the files of an output, without extension, which no other output has. */
    Path newName() {
        return folder.resolve(UUID.randomUUID().toString());
    }

    /** Whether the disk has failed, and has not been seen to work again. */
    boolean hasFailed() {
        return failed;
    }

    /** Whether the disk has failed, and was not tried for this time in nanoseconds. */
    boolean isToTry(long nanos) {
        return failed && clock.getAsLong() - probedAt >= nanos;
    }

    /**
     * Looks soon whether the disk works, if this failure of an output can have come from it: whether a new file can be
     * written and read.
     */
    void suspect(Throwable failure) {
        if (!failed && isOfDisk(failure) && clock.getAsLong() - probedAt >= PAUSE_NANOS) {
            tryLater();
        }
    }

    private static boolean isOfDisk(Throwable failure) {
        boolean io = !(failure instanceof FaroException e) || e.code() == ErrorCode.IO;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedIOException || cause instanceof ClosedByInterruptException) {
                return false;
            }
        }
        return io && failure instanceof IOException;
    }

    /** Looks soon whether the disk works, one time at a time. */
    void tryLater() {
        if (!probing.compareAndSet(false, true)) {
            return;
        }
        probedAt = clock.getAsLong();
        try {
            executor.execute(() -> {
                try {
                    tryNow();
                } finally {
                    probing.set(false);
                }
            });
        } catch (RejectedExecutionException e) {
            // The task manager ends.
            probing.set(false);
        }
    }

    private void tryNow() {
        try {
            probe();
            if (failed) {
                LOG.info("{} works again.", folder);
            }
            failed = false;
        } catch (InterruptedIOException | ClosedByInterruptException e) {
            // The thread is to end, which says nothing of the disk.
        } catch (IOException e) {
            if (!failed) {
                LOG.warn("{} gets no more outputs, because its disk has failed.", folder, e);
            }
            failed = true;
        }
    }

    private void probe() throws IOException {
        Path file = folder.resolve("probe-" + UUID.randomUUID());
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.READ)) {
            ByteBuffer bytes = ByteBuffer.allocate(PROBE_BYTES);
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            // What is written has to reach the disk, or a disk that cannot write is not noticed.
            channel.force(false);
            if (channel.read(bytes.clear(), 0) != PROBE_BYTES) {
                throw new IOException("a file that was just written is cut");
            }
        } finally {
            Files.deleteIfExists(file);
        }
    }
}
