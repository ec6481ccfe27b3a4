package dev.faro.repair;

import dev.faro.Limits;
import java.util.Objects;

/** Options of a repair. Immutable: {@code RepairOptions.DEFAULT.withDryRun(true)}. */
public final class RepairOptions {
    /** Default limits; files are changed. */
    public static final RepairOptions DEFAULT = new RepairOptions(Limits.DEFAULT, false);

    private final Limits limits;
    private final boolean dryRun;

    private RepairOptions(Limits limits, boolean dryRun) {
        this.limits = Objects.requireNonNull(limits, "limits");
        this.dryRun = dryRun;
    }

    /** The limits of what is read from the files (LIM-1). */
    public Limits limits() {
        return limits;
    }

    /** The same options with another {@link #limits}. */
    public RepairOptions withLimits(Limits other) {
        return new RepairOptions(other, dryRun);
    }

    /** Whether to change nothing, and report what would be done. */
    public boolean dryRun() {
        return dryRun;
    }

    /** The same options with another {@link #dryRun}. */
    public RepairOptions withDryRun(boolean other) {
        return new RepairOptions(limits, other);
    }
}
