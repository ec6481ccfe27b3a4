package dev.faro.spark.merge;

import dev.faro.FaroException;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.storage.StoredOutput;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Outputs that are served. The indexes of those that were used last stay in memory, so that their next block costs no
 * more than opening the data file. Safe to share between threads.
 */
public final class OpenOutputs implements Closeable {
    /** How outputs are opened. */
    public static final ReaderOptions OPTIONS = ReaderOptions.DEFAULT;
    private static final byte[] MAGIC = {(byte) 0x89, 'F', 'A', 'R', 'O', '\r', '\n', 0x1A};
    /** The most outputs without a user, and the most memory that their indexes take, in bytes. */
    private static final int MOST_IDLE = 4096;
    private static final long MOST_IDLE_BYTES = 64 << 20;

    /** An output that is in use until it is closed. */
    public final class Lease implements Closeable {
        private final File name;
        private final ReopenedFile data;
        private final ReopenedFile index;
        private final Reader reader;
        private int users;
        private boolean dropped;
        /** What its index takes while it has no user, in bytes. */
        private long bytes;

        private Lease(File dataFile, File indexFile) throws IOException {
            name = indexFile;
            data = new ReopenedFile(dataFile);
            index = new ReopenedFile(indexFile);
            reader = Reader.openStored(StoredOutput.paired(data, index), OPTIONS);
        }

        /** The open output. */
        public Reader reader() {
            return reader;
        }

        @Override
        public void close() {
            release(this);
        }
    }

    private final Map<File, Lease> idle = new LinkedHashMap<>();
    private final Map<File, Lease> used = new HashMap<>();
    private long idleBytes;
    private boolean closed;

    /** Whether the file begins as a Faro file does. One that cannot be read is not Faro's: Spark reports it. */
    public boolean isFaro(File index) {
        synchronized (this) {
            if (idle.containsKey(index) || used.containsKey(index)) {
                return true;
            }
        }
        try (InputStream in = Files.newInputStream(index.toPath())) {
            return Arrays.equals(in.readNBytes(MAGIC.length), MAGIC);
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Opens an output, or takes the one that is open.
     *
     * @throws IOException a fault of the output, or of the system
     */
    public Lease open(File data, File index) throws IOException {
        // Files are opened and read without the lock, so that one slow disk does not hold up the others.
        Lease known = take(index, null);
        if (known != null) {
            // What is in memory of the index has passed its checks, whatever became of the file since.
            if (known.data.isCurrent()) {
                return known;
            }
            drop(known);
        }
        Lease opened = new Lease(data, index);
        // Another thread may have opened it meanwhile.
        Lease other = take(index, opened);
        if (other != opened) {
            close(opened);
        }
        return other;
    }

    /** The output that is known by this name, for one more user; if there is none, {@code opened}, which may be null. */
    private synchronized Lease take(File index, Lease opened) {
        Lease lease = used.get(index);
        if (lease == null) {
            Lease waiting = takeIdle(index);
            lease = waiting == null ? opened : waiting;
            if (lease == null) {
                return null;
            }
            used.put(index, lease);
        }
        lease.users++;
        return lease;
    }

    /** Gives an output that was replaced up; its last user closes it. */
    private synchronized void drop(Lease lease) {
        lease.dropped = true;
        used.remove(lease.name, lease);
        release(lease);
    }

    private Lease takeIdle(File index) {
        Lease lease = idle.remove(index);
        if (lease != null) {
            idleBytes -= lease.bytes;
        }
        return lease;
    }

    private synchronized void release(Lease lease) {
        if (--lease.users > 0) {
            return;
        }
        used.remove(lease.name, lease);
        if (closed || lease.dropped) {
            close(lease);
            return;
        }
        closeFiles(lease);
        lease.bytes = lease.reader.memoryUsed();
        idle.put(lease.name, lease);
        idleBytes += lease.bytes;
        while (idle.size() > MOST_IDLE || idleBytes > MOST_IDLE_BYTES && idle.size() > 1) {
            close(takeIdle(idle.keySet().iterator().next()));
        }
    }

    /** Closes an output that is about to be removed; one in use, when its last user has ended. */
    public synchronized void close(File index) {
        Lease lease = takeIdle(index);
        if (lease != null) {
            close(lease);
        }
        Lease inUse = used.remove(index);
        if (inUse != null) {
            inUse.dropped = true;
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        idle.values().forEach(OpenOutputs::close);
        idle.clear();
        idleBytes = 0;
    }

    private static void closeFiles(Lease lease) {
        try {
            lease.data.close();
            lease.index.close();
        } catch (IOException e) {
            // They were only read from.
        }
    }

    private static void close(Lease lease) {
        try {
            lease.reader.close();
        } catch (FaroException e) {
            // It was only read from.
        }
    }
}
