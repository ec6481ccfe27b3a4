package dev.faro.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** The limit: Faro's own data file into one direct buffer, in pieces of 256 KiB, nothing looked at. */
public final class RawRead implements WriteSubject {
    private final WriteCase which;
    private final Path data;
    private final ByteBuffer piece = ByteBuffer.allocateDirect(256 << 10);

    /** Reads {@code faro.data} of a folder. */
    public RawRead(WriteCase which, Path folder) {
        this.which = which;
        this.data = folder.resolve("faro.data");
    }

    @Override
    public String name() {
        return "raw-pread";
    }

    @Override
    public long plainBytes() {
        return which.plainBytes();
    }

    @Override
    public Outcome write() throws IOException {
        long begin = System.nanoTime();
        long at = 0;
        try (FileChannel channel = FileChannel.open(data)) {
            int count;
            while ((count = channel.read(piece.clear(), at)) > 0) {
                at += count;
            }
        }
        return new Outcome(System.nanoTime() - begin, at, 0, 1);
    }

    @Override
    public void clear() {}
}
