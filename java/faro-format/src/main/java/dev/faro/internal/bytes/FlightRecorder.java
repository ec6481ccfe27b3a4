package dev.faro.internal.bytes;

import dev.faro.FaroException;

/** Whether the JVM has the flight recorder, whose module is optional; and the event of a fault. */
public final class FlightRecorder {
    private static final boolean PRESENT = isPresent();

    private FlightRecorder() {}

    private static boolean isPresent() {
        try {
            Class.forName("jdk.jfr.Event");
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** Whether events can be made. */
    public static boolean present() {
        return PRESENT;
    }

    /** Records a fault. */
    public static void fault(FaroException fault) {
        if (PRESENT) {
            FaultEvent event = new FaultEvent();
            if (event.isEnabled()) {
                event.code = fault.code().toString();
                event.file = fault.fileName();
                event.offset = fault.offset();
                event.commit();
            }
        }
    }
}
