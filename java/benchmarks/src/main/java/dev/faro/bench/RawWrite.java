package dev.faro.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The limit: the same number of bytes from one direct buffer into a new file, in pieces of 1 MiB. */
public final class RawWrite implements WriteSubject {
    private final long size;
    private final Path file;
    private final ByteBuffer piece = ByteBuffer.allocateDirect(1 << 20);

    /** Writes a file of a size into a folder. */
    public RawWrite(long size, Path folder) {
        this.size = size;
        this.file = folder.resolve("raw");
    }

    @Override
    public String name() {
        return "raw-write";
    }

    @Override
    public long plainBytes() {
        return size;
    }

    @Override
    public Outcome write() throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            long begin = System.nanoTime();
            long at = 0;
            while (at < size) {
                piece.clear().limit((int) Math.min(piece.capacity(), size - at));
                at += channel.write(piece, at);
            }
            return new Outcome(System.nanoTime() - begin, size, 0, 1);
        }
    }

    @Override
    public void clear() throws IOException {
        Files.deleteIfExists(file);
    }
}
