package dev.faro.spark;

import dev.faro.FaroException;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** Outputs that are open to be served. Those that were used last stay open, so that their next block costs little. */
final class OpenOutputs implements Closeable {
    static final ReaderOptions OPTIONS = ReaderOptions.DEFAULT;
    private static final byte[] MAGIC = {(byte) 0x89, 'F', 'A', 'R', 'O', '\r', '\n', 0x1A};
    /** The most outputs that stay open without use; each has two open files. */
    private static final int MOST_IDLE = 64;

    /** An output that is in use until it is closed. */
    final class Lease implements Closeable {
        private final File index;
        private final Reader reader;
        private int users;
        private boolean dropped;

        private Lease(File index, Reader reader) {
            this.index = index;
            this.reader = reader;
        }

        Reader reader() {
            return reader;
        }

        @Override
        public void close() {
            release(this);
        }
    }

    private final Map<File, Lease> idle = new LinkedHashMap<>();
    private final Map<File, Lease> used = new HashMap<>();
    private boolean closed;

    /** Whether the file begins as a Faro file does. One that cannot be read is not Faro's: Spark reports it. */
    boolean isFaro(File index) {
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

    synchronized Lease open(File data, File index) throws FaroException {
        Lease lease = used.get(index);
        if (lease == null) {
            lease = idle.remove(index);
            if (lease == null) {
                lease = new Lease(index, Reader.openPair(data.toPath(), index.toPath(), OPTIONS));
            }
            used.put(index, lease);
        }
        lease.users++;
        return lease;
    }

    private synchronized void release(Lease lease) {
        if (--lease.users > 0) {
            return;
        }
        used.remove(lease.index, lease);
        if (closed || lease.dropped) {
            close(lease);
            return;
        }
        idle.put(lease.index, lease);
        if (idle.size() > MOST_IDLE) {
            Iterator<Lease> eldest = idle.values().iterator();
            close(eldest.next());
            eldest.remove();
        }
    }

    /** Closes an output that is about to be removed; one in use, when its last user has ended. */
    synchronized void close(File index) {
        Lease lease = idle.remove(index);
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
        closeIdle();
    }

    synchronized void closeIdle() {
        idle.values().forEach(OpenOutputs::close);
        idle.clear();
    }

    private static void close(Lease lease) {
        try {
            lease.reader.close();
        } catch (FaroException e) {
            // It was only read from.
        }
    }
}
