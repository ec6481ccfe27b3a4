package dev.faro.flink;

import java.io.Closeable;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * The finished outputs of a task manager that were used last. They stay open while no view reads them, so that a small
 * output, which is read soon, is not opened at all. Safe to share between threads.
 */
final class OpenOutputs implements Closeable {
    private final int most;
    private final LinkedHashSet<FinishedOutput> outputs = new LinkedHashSet<>();
    private boolean closed;

    /**
     * Keeps outputs open.
     *
     * @param most the number of outputs
     */
    OpenOutputs(int most) {
        this.most = most;
    }

    /** Adds an open output as the newest, and closes the oldest if there are too many. */
    void add(FinishedOutput output) {
        FinishedOutput oldest = null;
        synchronized (outputs) {
            outputs.remove(output);
            if (closed) {
                oldest = output;
            } else if (!output.isReleased()) {
                outputs.add(output);
                if (outputs.size() > most) {
                    Iterator<FinishedOutput> all = outputs.iterator();
                    oldest = all.next();
                    all.remove();
                }
            }
        }
        if (oldest != null) {
            oldest.closeIfUnread();
        }
    }

    /** Closes all that are not being read, and the others when they are not read any more. */
    @Override
    public void close() {
        List<FinishedOutput> all;
        synchronized (outputs) {
            closed = true;
            all = List.copyOf(outputs);
            outputs.clear();
        }
        all.forEach(FinishedOutput::closeIfUnread);
    }

    /** Removes an output, which has been closed. */
    void remove(FinishedOutput output) {
        synchronized (outputs) {
            outputs.remove(output);
        }
    }
}
