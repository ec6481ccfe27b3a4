package dev.faro.writer;

import dev.faro.FaroException;
import dev.faro.Listener;
import dev.faro.internal.bytes.FaultNews;
import dev.faro.internal.bytes.FlightRecorder;
import java.util.ArrayDeque;

/**
 * Tells a writer's listener and the flight recorder what happened. The listener gets it when the call's work is done,
 * so that what it throws finds the writer in a consistent state.
 */
final class News {
    private final Listener listener;
    private final ArrayDeque<Region> regions = new ArrayDeque<>();

    private record Region(String output, int number, long bytes) {}

    /** @param listener null for none */
    News(Listener listener) {
        this.listener = listener;
    }

    /** A region was committed. */
    void regionWritten(String output, int number, long bytes) {
        if (FlightRecorder.present()) {
            RegionWrittenEvent event = new RegionWrittenEvent();
            if (event.shouldCommit()) {
                event.output = output;
                event.region = number;
                event.bytes = bytes;
                event.commit();
            }
        }
        if (listener != null) {
            regions.add(new Region(output, number, bytes));
        }
    }

    /** Tells the listener about the regions of which it was not told. */
    void tellRegions() {
        if (listener != null) {
            tell();
        }
    }

    /** Tells about each region, even if the listener throws something, which the caller gets after the last one. */
    private void tell() {
        Region region = regions.poll();
        if (region != null) {
            try {
                listener.regionWritten(region.output, region.number, region.bytes);
            } finally {
                tell();
            }
        }
    }

    /** The output was published; tells the listener. */
    void finished(Summary summary) {
        String output = summary.names().get(0);
        long bytes = summary.dataBytes() + summary.indexBytes();
        if (FlightRecorder.present()) {
            OutputFinishedEvent event = new OutputFinishedEvent();
            if (event.shouldCommit()) {
                event.output = output;
                event.regions = summary.regions();
                event.bytes = bytes;
                event.commit();
            }
        }
        if (listener != null) {
            try {
                tell();
            } finally {
                // Also if the listener threw something before: no later call comes.
                listener.finished(output, summary.regions(), bytes);
            }
        }
    }

    /** The writer has failed; tells the listener, after the regions that were committed before. */
    void fault(FaroException fault) {
        try {
            tellRegions();
        } catch (RuntimeException | Error e) {
            e.addSuppressed(fault);
            throw e;
        }
        FaultNews.tell(fault, listener);
    }
}
