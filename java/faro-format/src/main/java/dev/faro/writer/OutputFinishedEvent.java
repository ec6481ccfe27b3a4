package dev.faro.writer;

import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The event of a published output. */
@Name("faro.OutputFinished")
@Label("Output Finished")
@Category("Faro")
@StackTrace(false)
final class OutputFinishedEvent extends Event {
    @Label("Output")
    String output;
    @Label("Regions")
    int regions;
    @Label("Bytes")
    long bytes;
}
