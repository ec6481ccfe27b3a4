package dev.faro.bench;

import dev.faro.FaroException;
import dev.faro.codec.Encoder;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The limit of a compressing writer: only its codec, on the same blocks, one after another. */
public final class CodecAlone implements WriteSubject {
    /** The maximum size of the plain data that is kept, in bytes. */
    private static final long MAX_PLAIN = 64 << 20;

    private final List<ByteBuffer> blocks = new ArrayList<>();
    private final ByteBuffer target;
    private final Encoder encoder;
    private long plainBytes;

    /** Keeps the first blocks that Faro makes of a case. */
    public CodecAlone(WriteCase writeCase, Path folder) throws FaroException, IOException {
        Path own = Files.createDirectories(folder.resolve("codec"));
        FaroWrite faro = new FaroWrite(writeCase, own);
        faro.write();
        ReaderOptions options = ReaderOptions.DEFAULT;
        try (Reader reader = Reader.openPair(own.resolve("faro.data"), own.resolve("faro.index"), options);
                BlockCursor cursor = reader.all()) {
            while (plainBytes < MAX_PLAIN && cursor.next()) {
                ByteBuffer payload = cursor.payload();
                blocks.add(ByteBuffer.allocateDirect(payload.remaining()).put(payload).clear());
                plainBytes += cursor.plainSize();
            }
        }
        faro.clear();
        Files.delete(own);
        encoder = new Encoder(writeCase.codec(), 1);
        int largest = blocks.stream().mapToInt(ByteBuffer::capacity).max().orElse(0);
        target = ByteBuffer.allocateDirect((int) encoder.bound(largest));
    }

    @Override
    public String name() {
        return "codec";
    }

    @Override
    public long plainBytes() {
        return plainBytes;
    }

    @Override
    public Outcome write() {
        long begin = System.nanoTime();
        long stored = 0;
        for (ByteBuffer block : blocks) {
            stored += encoder.encode(block, block.capacity(), target, 0);
        }
        return new Outcome(System.nanoTime() - begin, stored, 0, 0);
    }

    @Override
    public void clear() {
        // It leaves nothing.
    }

    @Override
    public void close() {
        encoder.close();
    }
}
