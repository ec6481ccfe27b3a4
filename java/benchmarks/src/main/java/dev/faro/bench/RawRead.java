package dev.faro.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * The limit: reads Faro's own data file into one direct buffer, in pieces of 256 KiB; ignores the bytes, or computes a
 * checksum of each 64 KiB.
 */
public final class RawRead implements WriteSubject {
    private static final int CHECKED = 64 << 10;

    private final WriteCase writeCase;
    private final Path data;
    private final boolean checksums;
    private final ByteBuffer piece = ByteBuffer.allocateDirect(256 << 10);
    /** The sum of all checksums; a field, so that they are not optimized away. */
    private long sum;

    /** Reads {@code faro.data} in a folder. */
    public RawRead(WriteCase writeCase, boolean checksums, Path folder) {
        this.writeCase = writeCase;
        this.checksums = checksums;
        this.data = folder.resolve("faro.data");
    }

    @Override
    public String name() {
        return checksums ? "raw-pread-crc" : "raw-pread";
    }

    @Override
    public long plainBytes() {
        return writeCase.plainBytes();
    }

    @Override
    public Outcome write() throws IOException {
        long begin = System.nanoTime();
        long at = 0;
        try (FileChannel channel = FileChannel.open(data)) {
            int count;
            while ((count = channel.read(piece.clear(), at)) > 0) {
                at += count;
                if (checksums) {
                    sum();
                }
            }
        }
        return new Outcome(System.nanoTime() - begin, at, 0, 1);
    }

    private void sum() {
        int end = piece.position();
        CRC32C crc = new CRC32C();
        for (int from = 0; from < end; from += CHECKED) {
            crc.reset();
            crc.update(piece.limit(Math.min(end, from + CHECKED)).position(from));
            sum += crc.getValue();
        }
    }

    @Override
    public void clear() {}
}
