package dev.faro.writer;

import dev.faro.reader.Reader;

/**
 * What {@link Writer#finishAndOpen} returns: what was made, and an open reader of it. Closing the reader closes the
 * files.
 */
public final class Finished {
    private final Summary summary;
    private final Reader reader;

    Finished(Summary summary, Reader reader) {
        this.summary = summary;
        this.reader = reader;
    }

    /** What was made. */
    public Summary summary() {
        return summary;
    }

    /** The open reader. The caller closes it. */
    public Reader reader() {
        return reader;
    }
}
