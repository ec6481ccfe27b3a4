package dev.faro.writer;

import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The event of a committed region. */
@Name("faro.RegionWritten")
@Label("Region Written")
@Category("Faro")
@StackTrace(false)
final class RegionWrittenEvent extends Event {
    @Label("Output")
    String output;
    @Label("Region")
    int region;
    @Label("Bytes")
    long bytes;
}
