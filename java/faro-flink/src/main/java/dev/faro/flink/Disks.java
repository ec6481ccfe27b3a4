package dev.faro.flink;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.apache.flink.runtime.io.disk.FileChannelManager;
import org.apache.flink.runtime.io.disk.FileChannelManagerImpl;

/**
 * The folders of a task manager for Faro files, one in each of Flink's temporary folders. Outputs go to them in turns,
 * in proportion to the free space of each. A disk that fails gets no more outputs until it works again. Calls do not
 * wait for disks. Safe to share between threads.
 */
final class Disks implements Closeable {
    private static final String FOLDER = "faro-shuffle";
    /** How long the free space of a disk is not looked at again, and one that failed is not tried again. */
    private static final long SPACE_NANOS = 1_000_000_000L;
    private static final long FAILED_NANOS = 30 * SPACE_NANOS;

    private final FileChannelManager channels;
    private final Executor executor;
    private final ToLongFunction<Path> space;
    private final LongSupplier clock;
    private final AtomicBoolean looking = new AtomicBoolean();
    /** Guarded by itself. */
    private final List<Turn> turns;
    private long lookedAt;

    /** The place of a disk in the turns. */
    private static final class Turn {
        final Disk disk;
        long free;
        double credit;

        Turn(Disk disk, long free) {
            this.disk = disk;
            this.free = free;
        }
    }

    /**
     * Makes a folder in each of the temporary folders.
     *
     * @param executor where disks are looked at, and tried
     * @param space the free bytes of a folder's disk
     * @param clock nanoseconds
     */
    Disks(String[] temporary, Executor executor, ToLongFunction<Path> space, LongSupplier clock) {
        this.channels = new FileChannelManagerImpl(temporary, FOLDER);
        this.executor = executor;
        this.space = space;
        this.clock = clock;
        this.turns = Arrays.stream(channels.getPaths())
                .map(folder -> new Turn(new Disk(folder.toPath(), executor, clock), freeOf(folder.toPath()))).toList();
        this.lookedAt = clock.getAsLong();
    }

    /** Full disks share the outputs evenly, if there is no other. */
    private long freeOf(Path folder) {
        return Math.max(1, space.applyAsLong(folder));
    }

    /** Makes a folder in each of the temporary folders of this machine. */
    static Disks of(String[] temporary, Executor executor) {
        return new Disks(temporary, executor, folder -> folder.toFile().getUsableSpace(), System::nanoTime);
    }

    /** The disk for the next output, by what is known of all. If all have failed, it is one of these. */
    Disk next() {
        lookLater();
        synchronized (turns) {
            boolean anyWorks = turns.stream().anyMatch(turn -> !turn.disk.hasFailed());
            double all = 0;
            Turn chosen = null;
            for (Turn turn : turns) {
                if (anyWorks && turn.disk.hasFailed()) {
                    continue;
                }
                all += turn.free;
                turn.credit += turn.free;
                if (chosen == null || turn.credit > chosen.credit) {
                    chosen = turn;
                }
            }
            chosen.credit -= all;
            return chosen.disk;
        }
    }

    /** Looks at the disks soon, if that was long ago: the caller may be a thread that must not wait for a disk. */
    private void lookLater() {
        long now = clock.getAsLong();
        synchronized (turns) {
            if (now - lookedAt < SPACE_NANOS) {
                return;
            }
            lookedAt = now;
        }
        for (Turn turn : turns) {
            if (turn.disk.isToTry(FAILED_NANOS)) {
                turn.disk.tryLater();
            }
        }
        if (looking.compareAndSet(false, true)) {
            try {
                executor.execute(this::look);
            } catch (RejectedExecutionException e) {
                // The task manager ends.
                looking.set(false);
            }
        }
    }

    private void look() {
        try {
            for (Turn turn : turns) {
                long free = freeOf(turn.disk.folder());
                synchronized (turns) {
                    turn.free = free;
                }
            }
        } finally {
            looking.set(false);
        }
    }

    /** Removes the folders with all files. */
    @Override
    public void close() throws IOException {
        try {
            channels.close();
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException("cannot remove the folders of Faro files", e);
        }
    }
}
