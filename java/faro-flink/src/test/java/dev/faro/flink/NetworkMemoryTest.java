package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.codec.Codec;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.Writer;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.apache.flink.runtime.io.network.buffer.BufferPool;
import org.apache.flink.runtime.io.network.buffer.NetworkBufferPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records wait in Flink's network buffers, and all of these come back. */
class NetworkMemoryTest {
    private static final int SUBPARTITIONS = 100;
    private static final int SEGMENT = 32 << 10;
    private static final int SEGMENTS = 100;

    @TempDir
    private Path folder;

    private final NetworkBufferPool network = new NetworkBufferPool(SEGMENTS, SEGMENT);
    private final long[] written = new long[SUBPARTITIONS];
    private final Random random = new Random(1);

    @AfterEach
    void destroy() {
        network.destroyAllBufferPools();
        network.destroy();
    }

    private Writer create(BufferPool pool) throws Exception {
        OutputSettings settings = new OutputSettings(new Disk(folder, Runnable::run, System::nanoTime), folder.resolve("o"),
                Codec.NONE, SEGMENT, 64 << 20, 0, 0, Map.of());
        return settings.create(files(), SUBPARTITIONS, (long) pool.getNumBuffers() * SEGMENT, new NetworkMemory(pool));
    }

    private PartitionFiles files() {
        return new PartitionFiles(new Disk(folder, Runnable::run, System::nanoTime), folder.resolve("o"));
    }

    private void write(Writer writer, int bytes, int longest) throws Exception {
        for (int left = bytes; left > 0; ) {
            ByteBuffer record = ByteBuffer.allocate(1 + random.nextInt(longest));
            int to = random.nextInt(SUBPARTITIONS);
            written[to] += record.limit();
            writer.write(to, record);
            left -= record.limit();
        }
    }

    private void check() throws Exception {
        try (Reader reader = Reader.open(folder.resolve("o"), ReaderOptions.DEFAULT)) {
            for (int p = 0; p < SUBPARTITIONS; p++) {
                long found = 0;
                try (BlockCursor blocks = reader.partition(p)) {
                    while (blocks.next()) {
                        found += blocks.plainSize();
                    }
                }
                assertEquals(written[p], found, "subpartition " + p);
            }
        }
    }

    @Test
    void buffersAreTakenAndComeBack() throws Exception {
        BufferPool pool = network.createBufferPool(10, SEGMENTS);
        try (Writer writer = create(pool)) {
            write(writer, 2 << 20, 200);
            int used = pool.bestEffortGetNumOfUsedBuffers();
            assertTrue(used > 40 && used < 80, used + " buffers for 2 MiB");
            writer.finish();
            assertEquals(0, pool.bestEffortGetNumOfUsedBuffers());
        }
        check();
    }

    /** Another partition gets a share while this one is being written. */
    @Test
    void aPoolThatBecomesSmaller() throws Exception {
        BufferPool pool = network.createBufferPool(10, SEGMENTS);
        try (Writer writer = create(pool)) {
            write(writer, 2 << 20, 200);
            BufferPool other = network.createBufferPool(60, SEGMENTS);
            assertTrue(pool.getNumBuffers() < 60);
            // A record is longer than a buffer, and some are longer than all of them.
            write(writer, 4 << 20, 100_000);
            for (int longer : new int[] {300_000, 5 << 20}) {
                written[3] += longer;
                writer.write(3, ByteBuffer.allocate(longer));
            }
            write(writer, 4 << 20, 20);
            assertTrue(pool.bestEffortGetNumOfUsedBuffers() <= pool.getNumBuffers());
            other.lazyDestroy();
            writer.finish();
            assertEquals(0, pool.bestEffortGetNumOfUsedBuffers());
        }
        check();
        pool.lazyDestroy();
        assertEquals(SEGMENTS, network.getNumberOfAvailableMemorySegments());
    }

    @Test
    void anAbortedWriterGivesThemBack() throws Exception {
        BufferPool pool = network.createBufferPool(10, SEGMENTS);
        try (Writer writer = create(pool)) {
            write(writer, 2 << 20, 200);
            writer.abort();
        }
        assertEquals(0, pool.bestEffortGetNumOfUsedBuffers());
    }
}
