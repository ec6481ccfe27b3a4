package dev.faro.flink;

import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.runtime.io.network.partition.PartitionNotFoundException;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of a finished partition. They are open only while views read them, because a task manager keeps many more
 * files than are being read. They are deleted when the partition is released and no view reads them any more.
 */
final class FinishedOutput implements Readable {
    private static final Logger LOG = LoggerFactory.getLogger(FinishedOutput.class);

    private final ResultPartitionID id;
    private final ReadFailures failures;
    private final int bufferSize;
    private final Path data;
    private final Path index;
    private final OutputReads reads;
    private final Set<FaroSubpartitionView> views = new HashSet<>();
    private Reader reader;
    private boolean released;

    FinishedOutput(ResultPartitionID id, String owner, Path data, Path index, int bufferSize, OutputReads reads) {
        this.id = id;
        this.failures = new ReadFailures(id, owner, data);
        this.bufferSize = bufferSize;
        this.data = data;
        this.index = index;
        this.reads = reads;
    }

    @Override
    public OutputReads reads() {
        return reads;
    }

    @Override
    public int bufferSize() {
        return bufferSize;
    }

    @Override
    public Throwable failureOf(Throwable fault) {
        return failures.of(fault);
    }

    /**
     * Adds a view that is going to read, until {@link #remove}.
     *
     * @throws PartitionNotFoundException if the partition was released
     */
    synchronized void add(FaroSubpartitionView view) throws PartitionNotFoundException {
        if (released) {
            throw new PartitionNotFoundException(id);
        }
        views.add(view);
    }

    @Override
    public synchronized BufferReading open(int from, int to, boolean local) throws IOException {
        if (released) {
            throw failures.released();
        }
        if (reader == null) {
            reader = Reader.openPair(data, index, ReaderOptions.DEFAULT);
        }
        return reads.open(reader, from, to, local);
    }

    @Override
    public synchronized void remove(FaroSubpartitionView view) {
        views.remove(view);
        closeIfUnread();
    }

    /** Ends all readings. The last one deletes the files. */
    void release() {
        List<FaroSubpartitionView> reading;
        synchronized (this) {
            released = true;
            reading = List.copyOf(views);
            closeIfUnread();
        }
        reading.forEach(view -> view.fail(failures.released()));
    }

    private void closeIfUnread() {
        if (!views.isEmpty()) {
            return;
        }
        if (reader != null) {
            closeReader();
            reader = null;
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
