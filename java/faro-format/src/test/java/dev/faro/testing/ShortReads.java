package dev.faro.testing;

import dev.faro.storage.MemoryFile;
import dev.faro.storage.StoredFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/** A file in memory whose reads return fewer bytes than they could, at random. */
public final class ShortReads implements StoredFile {
    private final MemoryFile file;
    private final AtomicLong seed;
    private final AtomicLong shortened = new AtomicLong();
    private volatile boolean closed;

    public ShortReads(String name, byte[] bytes, long seed) {
        this.file = new MemoryFile(name, ByteBuffer.wrap(bytes));
        this.seed = new AtomicLong(seed);
    }

    /** The bytes and the path of a file. */
    public static ShortReads of(Path path, long seed) throws IOException {
        return new ShortReads(path.toString(), Files.readAllBytes(path), seed);
    }

    /** The number of reads that returned fewer bytes than they could. */
    public long shortened() {
        return shortened.get();
    }

    public boolean isClosed() {
        return closed;
    }

    @Override
    public long size() {
        return file.size();
    }

    @Override
    public int read(long offset, ByteBuffer target) {
        int limit = target.limit();
        Random random = new Random(seed.incrementAndGet());
        int room = target.remaining();
        if (room > 1 && random.nextBoolean()) {
            target.limit(target.position() + 1 + random.nextInt(room - 1));
            shortened.incrementAndGet();
        }
        try {
            return file.read(offset, target);
        } finally {
            target.limit(limit);
        }
    }

    @Override
    public String name() {
        return file.name();
    }

    @Override
    public void close() {
        closed = true;
    }
}
