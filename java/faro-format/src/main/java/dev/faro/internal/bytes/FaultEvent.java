package dev.faro.internal.bytes;

import dev.faro.FaroException;
import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** The event of a writer that failed, or of a fault that a reader found. */
@Name("faro.Fault")
@Label("Fault")
@Category("Faro")
final class FaultEvent extends Event {
    @Label("Code")
    String code;
    @Label("File")
    String file;
    @Label("Offset")
    long offset;

    static void record(FaroException fault) {
        FaultEvent event = new FaultEvent();
        if (event.isEnabled()) {
            event.code = fault.code().toString();
            event.file = fault.fileName();
            event.offset = fault.offset();
            event.commit();
        }
    }
}
