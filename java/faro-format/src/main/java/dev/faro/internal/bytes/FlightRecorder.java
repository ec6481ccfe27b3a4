package dev.faro.internal.bytes;

/** Whether the JVM has the flight recorder, whose module is optional. */
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
}
