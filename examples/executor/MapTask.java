import dev.faro.codec.Codec;
import dev.faro.writer.Summary;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** Writes the output of a map task. */
final class MapTask {
    /** The sort buffer of a task in bytes, if the engine has that much. */
    static final int BUFFER_SIZE = 2 << 20;

    private MapTask() {}

    static WriterOptions options() {
        return new WriterOptions(Rows.PARTITIONS).bufferSize(BUFFER_SIZE).blockSize(16 << 10).codec(Codec.LZ4);
    }

    /** What every task needs so that it can go on, however little memory is left: its working memory and a segment. */
    static long leastMemory() throws IOException {
        return options().workingMemory() + EngineMemory.SEGMENT;
    }

    /**
     * Makes one attempt. Each has a NAME of its own, so that attempts that run at the same time, or of which one died,
     * never meet. If it fails, closing the writer removes its files.
     */
    static MapOutput run(int map, int attempt, Path folder, EngineMemory engine)
            throws IOException, InterruptedException {
        Path name = folder.resolve("map-" + map + ".attempt-" + attempt);
        try (TaskMemory memory = engine.reserve(leastMemory());
                Writer writer = Writer.create(name,
                        options().producer(map).attempt(attempt).memoryBudget(memory).buffers(memory))) {
            ByteBuffer record = ByteBuffer.allocate(Rows.MOST_BYTES);
            Rows.ofMap(map, row -> writer.write(row.partition(), row.encode(record)));
            Summary summary = writer.finish();
            return new MapOutput(map, attempt, summary, writer.figures().spills());
        }
    }
}
