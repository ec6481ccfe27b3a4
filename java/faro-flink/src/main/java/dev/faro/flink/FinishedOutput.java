package dev.faro.flink;

import dev.faro.reader.Reader;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.runtime.io.network.partition.PartitionNotFoundException;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of a finished partition. They are open while views read them, and as long as they are among the last that
 * were used ({@link OpenOutputs}), because a task manager keeps many more files than are being read. They are deleted
 * when the partition is released and no view reads them any more.
 */
final class FinishedOutput implements Readable {
    private static final Logger LOG = LoggerFactory.getLogger(FinishedOutput.class);

    private final ResultPartitionID id;
    private final ReadFailures failures;
    private final int bufferSize;
    private final PartitionFiles files;
    private final OutputReads reads;
    // Guarded by this; any thread may look whether all bytes are in memory, or the partition was released.
    private final Set<FaroSubpartitionView> views = new HashSet<>();
    private Reader reader;
    /** Whether the reader has all bytes in memory. */
    private volatile boolean inMemory;
    private volatile boolean released;

    FinishedOutput(ResultPartitionID id, String owner, PartitionFiles files, int bufferSize, OutputReads reads) {
        this.id = id;
        this.failures = new ReadFailures(id, owner, files.name());
        this.bufferSize = bufferSize;
        this.files = files;
        this.reads = reads;
    }

    /** Takes over the reader that the writer has opened. */
    void finished(Reader opened) {
        synchronized (this) {
            reader = opened;
            inMemory = files.isInMemory();
        }
        reads.openOutputs().add(this);
    }

    @Override
    public OutputReads reads() {
        return reads;
    }

    @Override
    public boolean isDirect() {
        return inMemory;
    }

    @Override
    public int bufferSize() {
        return bufferSize;
    }

    @Override
    public Throwable failureOf(Throwable fault) {
        files.disk().suspect(fault);
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
            reader = files.open(reads.readerOptions());
        }
        return inMemory ? reads.openInMemory(reader, from, to, local) : reads.open(reader, from, to, local);
    }

    @Override
    public void remove(FaroSubpartitionView view) {
        boolean idle;
        synchronized (this) {
            views.remove(view);
            if (released) {
                deleteIfUnread();
            }
            idle = views.isEmpty() && reader != null;
        }
        if (idle) {
            reads.openOutputs().add(this);
        }
    }

    /** Ends all readings. The last one deletes the files. */
    void release() {
        List<FaroSubpartitionView> reading;
        synchronized (this) {
            released = true;
            reading = List.copyOf(views);
            deleteIfUnread();
        }
        reads.openOutputs().remove(this);
        reading.forEach(view -> view.fail(failures.released()));
    }

    /** Whether the partition was released. */
    boolean isReleased() {
        return released;
    }

    /** Closes the files, unless they are being read. */
    synchronized void closeIfUnread() {
        if (views.isEmpty() && reader != null) {
            try {
                reader.close();
            } catch (IOException e) {
                LOG.warn("Cannot close {}", files.name(), e);
            }
            reader = null;
            inMemory = false;
        }
    }

    private void deleteIfUnread() {
        if (views.isEmpty()) {
            closeIfUnread();
            files.delete();
        }
    }
}
