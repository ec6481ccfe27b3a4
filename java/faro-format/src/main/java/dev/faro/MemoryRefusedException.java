package dev.faro;

import java.io.IOException;

/**
 * The cause of an {@code io} that says that a {@link MemoryBudget} refused memory which a call cannot do without. The call
 * may be repeated when memory has been given back.
 */
public final class MemoryRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    /** Makes the cause of an error. */
    public MemoryRefusedException() {
        super("out of memory: it was refused");
    }
}
