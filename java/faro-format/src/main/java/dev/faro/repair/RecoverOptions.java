package dev.faro.repair;

import dev.faro.Limits;

/** What to recover, and how. Unchangeable: {@code RecoverOptions.DEFAULT.withOverwrite(true)}. */
public final class RecoverOptions {
    /** No file_id, nothing is replaced, default limits, files are repaired. */
    public static final RecoverOptions DEFAULT = new RecoverOptions(null, false, Limits.DEFAULT, false);

    private final String fileId;
    private final boolean overwrite;
    private final Limits limits;
    private final boolean dryRun;

    private RecoverOptions(String fileId, boolean overwrite, Limits limits, boolean dryRun) {
        this.fileId = fileId;
        this.overwrite = overwrite;
        this.limits = limits;
        this.dryRun = dryRun;
    }

    /** The first 8 hexadecimal digits of the file_id of the output, if there are several; else null. */
    public String fileId() {
        return fileId;
    }

    /** The same options with another {@link #fileId}. */
    public RecoverOptions withFileId(String other) {
        return new RecoverOptions(other, overwrite, limits, dryRun);
    }

    /** Whether another output that has the final names may be replaced. */
    public boolean overwrite() {
        return overwrite;
    }

    /** The same options with another {@link #overwrite}. */
    public RecoverOptions withOverwrite(boolean other) {
        return new RecoverOptions(fileId, other, limits, dryRun);
    }

    /** What is taken from the files at most. */
    public Limits limits() {
        return limits;
    }

    /** The same options with another {@link #limits}. */
    public RecoverOptions withLimits(Limits other) {
        return new RecoverOptions(fileId, overwrite, other, dryRun);
    }

    /** Whether to change nothing and report the same. */
    public boolean dryRun() {
        return dryRun;
    }

    /** The same options with another {@link #dryRun}. */
    public RecoverOptions withDryRun(boolean other) {
        return new RecoverOptions(fileId, overwrite, limits, other);
    }
}
