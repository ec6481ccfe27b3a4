package dev.faro.repair;

import java.time.Duration;
import java.util.Objects;

/** Options of a cleaning. Immutable: {@code CleanOptions.DEFAULT.withDryRun(true)}. */
public final class CleanOptions {
    /** Files that were last changed more than an hour ago are removed. */
    public static final CleanOptions DEFAULT = new CleanOptions(Duration.ofHours(1), false);

    private final Duration olderThan;
    private final boolean dryRun;

    private CleanOptions(Duration olderThan, boolean dryRun) {
        this.olderThan = Objects.requireNonNull(olderThan, "olderThan");
        this.dryRun = dryRun;
    }

    /**
     * The minimum time since a file was last changed. On a system without record locks, only this protects the files of
     * a living writer.
     */
    public Duration olderThan() {
        return olderThan;
    }

    /** The same options with another {@link #olderThan}. */
    public CleanOptions withOlderThan(Duration other) {
        return new CleanOptions(other, dryRun);
    }

    /** Whether to remove nothing, and report what would be removed. */
    public boolean dryRun() {
        return dryRun;
    }

    /** The same options with another {@link #dryRun}. */
    public CleanOptions withDryRun(boolean other) {
        return new CleanOptions(olderThan, other);
    }
}
