package dev.faro.storage;

import java.util.Objects;

/** The stored file or files of one output. */
public final class StoredOutput {
    private final StoredFile data;
    private final StoredFile index;
    private final boolean single;

    private StoredOutput(StoredFile data, StoredFile index, boolean single) {
        this.data = data;
        this.index = index;
        this.single = single;
    }

    /** An output in a pair of files. */
    public static StoredOutput paired(StoredFile data, StoredFile index) {
        return new StoredOutput(Objects.requireNonNull(data, "data"), Objects.requireNonNull(index, "index"), false);
    }

    /** An output in a single file. */
    public static StoredOutput single(StoredFile file) {
        Objects.requireNonNull(file, "file");
        return new StoredOutput(file, file, true);
    }

    /** Whether the output is a single file. */
    public boolean isSingle() {
        return single;
    }

    /** The data file, or the single file. */
    public StoredFile data() {
        return data;
    }

    /** The index file, or the single file. */
    public StoredFile index() {
        return index;
    }
}
