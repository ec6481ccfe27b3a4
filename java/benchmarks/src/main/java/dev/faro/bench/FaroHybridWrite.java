package dev.faro.bench;

import dev.faro.FaroException;
import dev.faro.hybrid.HybridMemory;
import dev.faro.hybrid.HybridMode;
import dev.faro.hybrid.HybridOptions;
import dev.faro.hybrid.HybridStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A hybrid store in full mode, with no consumer and with memory for half of the data: by the end, each byte is in the
 * files. Its spills run in the thread that writes, as the writer's writes do, or in another one.
 */
final class FaroHybridWrite implements WriteSubject {
    private final WriteCase writeCase;
    private final Path name;
    /** Null for the thread that writes. */
    private final ExecutorService spills;

    /** Writes {@code hybrid.data} and {@code hybrid.index} into a folder. */
    FaroHybridWrite(WriteCase writeCase, Path folder, boolean anotherThread) {
        this.writeCase = writeCase;
        this.name = folder.resolve("hybrid");
        this.spills = anotherThread ? Executors.newSingleThreadExecutor() : null;
    }

    @Override
    public String name() {
        return spills == null ? "faro-hybrid-full" : "faro-hybrid-full-2-threads";
    }

    @Override
    public void close() {
        if (spills != null) {
            spills.shutdown();
        }
    }

    @Override
    public long plainBytes() {
        return writeCase.plainBytes();
    }

    @Override
    public Outcome write() throws FaroException, IOException {
        HybridMemory memory = new HybridMemory(writeCase.plainBytes() / 2);
        HybridStore store = HybridStore.create(name, FaroWrite.options(writeCase),
                new HybridOptions(memory, HybridMode.FULL).executor(spills == null ? Runnable::run : spills));
        try {
            long begin = System.nanoTime();
            Records source = writeCase.source();
            SplitMix numbers = WriteCase.partitionNumbers();
            ByteBuffer bytes = ByteBuffer.wrap(source.array());
            int next = 0;
            for (long i = 0; i < writeCase.records(); i++) {
                int start = source.start(next);
                bytes.limit(start + source.length(next)).position(start);
                store.write(writeCase.partition(numbers), bytes);
                next = next + 1 == source.count() ? 0 : next + 1;
            }
            store.finish();
            long nanos = System.nanoTime() - begin;
            return new Outcome(nanos, Files.size(path(".data")), Files.size(path(".index")), 2);
        } finally {
            store.release();
        }
    }

    private Path path(String extension) {
        return name.resolveSibling("hybrid" + extension);
    }

    @Override
    public void clear() throws IOException {
        Files.deleteIfExists(path(".data"));
        Files.deleteIfExists(path(".index"));
    }
}
