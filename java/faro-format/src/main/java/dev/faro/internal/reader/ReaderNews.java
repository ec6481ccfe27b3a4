package dev.faro.internal.reader;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.Listener;
import dev.faro.internal.bytes.FaultNews;
import dev.faro.internal.bytes.FlightRecorder;
import dev.faro.internal.storage.NotBrought;

/** Tells a reader's listener and the flight recorder what happened. Called without locks. Safe to share. */
public final class ReaderNews {
    private final Listener listener;

    /** @param listener null for none */
    public ReaderNews(Listener listener) {
        this.listener = listener;
    }

    /**
     * An output was opened. Its sizes are looked up only for a listener or a recording.
     *
     * @throws FaroException {@code io} if the files do not tell them
     */
    public void opened(FileSet files, int regions) throws FaroException {
        // The event's class is not touched in a JVM without the recorder.
        boolean recorded = FlightRecorder.present() && OutputOpenedEvent.isOn();
        if (!recorded && listener == null) {
            return;
        }
        String output = files.data().name();
        long bytes = files.data().size() + (files.isSingle() ? 0 : files.index().size());
        if (recorded) {
            OutputOpenedEvent.record(output, regions, bytes);
        }
        if (listener != null) {
            listener.opened(output, regions, bytes);
        }
    }

    /** A fault was found, which is thrown after this. A wrong argument is not a fault, nor are bytes that were not brought. */
    public FaroException fault(FaroException fault) {
        if (fault.code() == ErrorCode.INVALID_ARGUMENT || !NotBrought.wantedBy(fault).isEmpty()) {
            return fault;
        }
        FaultNews.tell(fault, listener);
        return fault;
    }
}
