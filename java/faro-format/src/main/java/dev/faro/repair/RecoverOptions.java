package dev.faro.repair;

import dev.faro.Limits;
import java.util.Objects;

/** Options of a recovery. Immutable: {@code RecoverOptions.DEFAULT.withOverwrite(true)}. */
public final class RecoverOptions {
    /** No file_id; nothing is replaced; default limits; files are changed. */
    public static final RecoverOptions DEFAULT = new RecoverOptions(null, false, Limits.DEFAULT, false);

    private final String fileId;
    private final boolean overwrite;
    private final Limits limits;
    private final boolean dryRun;

    private RecoverOptions(String fileId, boolean overwrite, Limits limits, boolean dryRun) {
        this.fileId = fileId;
        this.overwrite = overwrite;
        this.limits = Objects.requireNonNull(limits, "limits");
        this.dryRun = dryRun;
    }

    /** The first 8 hexadecimal digits of the output's file_id, to choose among several; otherwise null. */
    public String fileId() {
        return fileId;
    }

    /** The same options with another {@link #fileId}. */
    public RecoverOptions withFileId(String other) {
        return new RecoverOptions(other, overwrite, limits, dryRun);
    }

    /** Whether to replace another output that has the final names. */
    public boolean overwrite() {
        return overwrite;
    }

    /** The same options with another {@link #overwrite}. */
    public RecoverOptions withOverwrite(boolean other) {
        return new RecoverOptions(fileId, other, limits, dryRun);
    }

    /** The limits of what is read from the files (LIM-1). */
    public Limits limits() {
        return limits;
    }

    /** The same options with another {@link #limits}. */
    public RecoverOptions withLimits(Limits other) {
        return new RecoverOptions(fileId, overwrite, other, dryRun);
    }

    /** Whether to change nothing, and report what would be done. */
    public boolean dryRun() {
        return dryRun;
    }

    /** The same options with another {@link #dryRun}. */
    public RecoverOptions withDryRun(boolean other) {
        return new RecoverOptions(fileId, overwrite, limits, other);
    }
}
