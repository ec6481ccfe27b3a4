package dev.faro.flink;

import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.scheduler.Consumer;
import dev.faro.scheduler.Scheduler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of a finished partition: open while somebody reads them, since a task manager keeps many more than are read,
 * and deleted when the partition is released and nobody reads them any more.
 */
final class FinishedOutput {
    private static final Logger LOG = LoggerFactory.getLogger(FinishedOutput.class);

    private final Path data;
    private final Path index;
    private final ReadMemory memory;
    private final Executor executor;
    private final Set<FaroSubpartitionView> views = new HashSet<>();
    private Reader reader;
    private Scheduler scheduler;
    private boolean released;

    FinishedOutput(Path data, Path index, ReadMemory memory, Executor executor) {
        this.data = data;
        this.index = index;
        this.memory = memory;
        this.executor = executor;
    }

    Executor executor() {
        return executor;
    }

    /** Counts a view in that is going to read; {@link #remove} counts it out. */
    synchronized void add(FaroSubpartitionView view) {
        if (released) {
            throw new IllegalStateException("expected a partition with its files, found a released one");
        }
        views.add(view);
    }

    /** Opens a reading of subpartitions, for a view that was counted in. */
    synchronized Consumer open(int from, int to) throws IOException {
        if (released) {
            throw new IOException("expected a partition with its files, found a released one");
        }
        if (reader == null) {
            reader = Reader.openPair(data, index, ReaderOptions.DEFAULT);
            // One for each file: requests of different files are never read together anyway.
            scheduler = new Scheduler(memory.take(), executor);
        }
        return scheduler.open(reader, from, to);
    }

    synchronized void remove(FaroSubpartitionView view) {
        views.remove(view);
        closeIfUnread();
    }

    /** Ends all readings; the files go with the last of them. */
    void release() {
        List<FaroSubpartitionView> reading;
        synchronized (this) {
            released = true;
            reading = List.copyOf(views);
            closeIfUnread();
        }
        reading.forEach(FaroSubpartitionView::failReleased);
    }

    private void closeIfUnread() {
        if (!views.isEmpty()) {
            return;
        }
        if (reader != null) {
            scheduler.close();
            closeReader();
            memory.giveBack();
            reader = null;
            scheduler = null;
        }
        if (released) {
            delete(data);
            delete(index);
        }
    }

    private void closeReader() {
        try {
            reader.close();
        } catch (IOException e) {
            LOG.warn("Cannot close {}", data, e);
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.warn("Cannot delete {}", file, e);
        }
    }
}
