package dev.faro.merge;

import dev.faro.FileRole;
import dev.faro.internal.storage.InputFile;
import dev.faro.storage.StoredFile;
import java.nio.ByteBuffer;

/** Stands for a fragment, whose bytes are in memory, in faults: it has a role and no name. */
final class FragmentFile implements StoredFile {
    static final InputFile INPUT = new InputFile(FileRole.FRAGMENT, new FragmentFile());

    private FragmentFile() {}

    @Override
    public String name() {
        return "fragment";
    }

    @Override
    public long size() {
        return 0;
    }

    @Override
    public int read(long offset, ByteBuffer target) {
        return 0;
    }

    @Override
    public void close() {}
}
