package dev.faro.flink;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.apache.flink.runtime.io.disk.FileChannelManager;
import org.apache.flink.runtime.io.disk.FileChannelManagerImpl;

/**
 * The folders of a task manager for Faro files, one in each of Flink's temporary folders. Outputs go to them in turns,
 * in proportion to the free space of each. A disk that fails gets no more outputs until it works again. Safe to share
 * between threads.
 */
final class Disks implements Closeable {
    private static final String FOLDER = "faro-shuffle";
    /** How long the free space of a disk is not looked at again, and one that failed is not tried again. */
    private static final long SPACE_NANOS = 1_000_000_000L;
    private static final long FAILED_NANOS = 30 * SPACE_NANOS;

    private final FileChannelManager channels;
    private final LongSupplier clock;
    private final List<Turn> turns;

    /** The place of a disk in the turns. */
    private static final class Turn {
        final Disk disk;
        final ToLongFunction<Path> space;
        long free;
        long lookedAt;
        double credit;

        Turn(Disk disk, ToLongFunction<Path> space, long now) {
            this.disk = disk;
            this.space = space;
            look(now);
        }

        void look(long now) {
            // Full disks share the outputs evenly, if there is no other.
            free = Math.max(1, space.applyAsLong(disk.folder()));
            lookedAt = now;
        }
    }

    /**
     * Makes a folder in each of the temporary folders.
     *
     * @param space the free bytes of a folder's disk
     * @param clock nanoseconds
     */
    Disks(String[] temporary, ToLongFunction<Path> space, LongSupplier clock) {
        this.channels = new FileChannelManagerImpl(temporary, FOLDER);
        this.clock = clock;
        long now = clock.getAsLong();
        this.turns = Arrays.stream(channels.getPaths())
                .map(folder -> new Turn(new Disk(folder.toPath(), clock), space, now)).toList();
    }

    /** Makes a folder in each of the temporary folders of this machine. */
    static Disks of(String[] temporary) {
        return new Disks(temporary, folder -> folder.toFile().getUsableSpace(), System::nanoTime);
    }

    /** The disk for the next output. If all have failed, it is one of these. */
    Disk next() {
        for (Turn turn : turns) {
            if (turn.disk.isToTry(FAILED_NANOS)) {
                turn.disk.tryAgain();
            }
        }
        synchronized (turns) {
            long now = clock.getAsLong();
            boolean anyWorks = turns.stream().anyMatch(turn -> !turn.disk.hasFailed());
            double all = 0;
            Turn chosen = null;
            for (Turn turn : turns) {
                if (anyWorks && turn.disk.hasFailed()) {
                    continue;
                }
                if (now - turn.lookedAt >= SPACE_NANOS) {
                    turn.look(now);
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

    /** The folders, for the log. */
    List<File> folders() {
        return List.of(channels.getPaths());
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
