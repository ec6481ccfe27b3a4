package dev.faro.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/** The limit: the same bytes, copied in the same pieces, each with a checksum. */
final class MergeLimit implements WriteSubject {
    private final PushedBlocks pushed;
    private final Path file;

    MergeLimit(PushedBlocks pushed) {
        this.pushed = pushed;
        this.file = pushed.folder().resolve("copy");
    }

    @Override
    public String name() {
        return "read-crc-write";
    }

    @Override
    public long plainBytes() {
        return pushed.plainBytes();
    }

    @Override
    public Outcome write() throws Exception {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            CRC32C crc = new CRC32C();
            long begin = System.nanoTime();
            PushedBlocks.eachPiece(pushed.fragments(), piece -> {
                for (int at = 0; at < piece.limit(); at += pushed.blockBytes()) {
                    ByteBuffer block = piece.slice(at, Math.min(pushed.blockBytes(), piece.limit() - at));
                    crc.reset();
                    crc.update(block);
                }
                while (piece.hasRemaining()) {
                    channel.write(piece);
                }
            });
            return new Outcome(System.nanoTime() - begin, channel.size(), 0, 1);
        }
    }

    @Override
    public void clear() throws IOException {
        Files.deleteIfExists(file);
    }
}
