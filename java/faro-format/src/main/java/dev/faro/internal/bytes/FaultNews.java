package dev.faro.internal.bytes;

import dev.faro.FaroException;
import dev.faro.Listener;

/** Tells the flight recorder and a listener about faults. */
public final class FaultNews {
    private FaultNews() {}

    /**
     * Tells about a fault that is thrown after this. What the listener throws is thrown instead, with the fault suppressed.
     *
     * @param listener null for none
     */
    public static void tell(FaroException fault, Listener listener) {
        if (FlightRecorder.present()) {
            FaultEvent.record(fault);
        }
        if (listener != null) {
            try {
                listener.fault(fault);
            } catch (RuntimeException | Error e) {
                e.addSuppressed(fault);
                throw e;
            }
        }
    }
}
