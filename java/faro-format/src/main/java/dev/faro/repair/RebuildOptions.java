package dev.faro.repair;

import dev.faro.Limits;
import java.util.Objects;

/** Options of a rebuild. Immutable: {@code RebuildOptions.DEFAULT.withDryRun(true)}. */
public final class RebuildOptions {
    /** Shared blocks are given to no partition; no schema; default limits; files are changed. */
    public static final RebuildOptions DEFAULT = new RebuildOptions(false, null, Limits.DEFAULT, false);

    private final boolean sharedToAll;
    private final byte[] schema;
    private final Limits limits;
    private final boolean dryRun;

    private RebuildOptions(boolean sharedToAll, byte[] schema, Limits limits, boolean dryRun) {
        this.sharedToAll = sharedToAll;
        this.schema = schema;
        this.limits = Objects.requireNonNull(limits, "limits");
        this.dryRun = dryRun;
    }

    /** Whether shared blocks are given to every partition, instead of to none (REP-6). */
    public boolean sharedToAll() {
        return sharedToAll;
    }

    /** The same options with another {@link #sharedToAll}. */
    public RebuildOptions withSharedToAll(boolean other) {
        return new RebuildOptions(other, schema, limits, dryRun);
    }

    /** The encapsulated Arrow schema message, required for framing arrow; otherwise null. It is kept, not copied. */
    public byte[] schema() {
        return schema;
    }

    /** The same options with another {@link #schema}. */
    public RebuildOptions withSchema(byte[] other) {
        return new RebuildOptions(sharedToAll, other, limits, dryRun);
    }

    /** The limits of what is read from the data file (LIM-1). */
    public Limits limits() {
        return limits;
    }

    /** The same options with another {@link #limits}. */
    public RebuildOptions withLimits(Limits other) {
        return new RebuildOptions(sharedToAll, schema, other, dryRun);
    }

    /** Whether to change nothing, and report what would be done. */
    public boolean dryRun() {
        return dryRun;
    }

    /** The same options with another {@link #dryRun}. */
    public RebuildOptions withDryRun(boolean other) {
        return new RebuildOptions(sharedToAll, schema, limits, other);
    }
}
