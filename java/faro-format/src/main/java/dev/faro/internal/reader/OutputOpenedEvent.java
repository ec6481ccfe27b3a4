package dev.faro.internal.reader;

import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The event of an output that was opened. */
@Name("faro.OutputOpened")
@Label("Output Opened")
@Category("Faro")
@StackTrace(false)
final class OutputOpenedEvent extends Event {
    @Label("Output")
    String output;
    @Label("Regions")
    int regions;
    @Label("Bytes")
    long bytes;

    /** Whether a recording has it. */
    static boolean isOn() {
        return new OutputOpenedEvent().isEnabled();
    }

    static void record(String output, int regions, long bytes) {
        OutputOpenedEvent event = new OutputOpenedEvent();
        event.output = output;
        event.regions = regions;
        event.bytes = bytes;
        event.commit();
    }
}
