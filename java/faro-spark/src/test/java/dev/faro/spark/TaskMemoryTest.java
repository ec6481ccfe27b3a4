package dev.faro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.Framing;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkConf;
import org.apache.spark.memory.MemoryConsumer;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.memory.UnifiedMemoryManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A writer lives in the memory that Spark has for its task. */
class TaskMemoryTest {
    private static final long MEMORY = 16 << 20;
    private static final int RECORD = 1000;

    @TempDir
    private Path folder;
    private final TaskMemoryManager manager =
            new TaskMemoryManager(new UnifiedMemoryManager(new SparkConf(false), MEMORY, 0, 1), 7);
    private final TaskMemory memory = new TaskMemory(manager);

    /** Another operator of the task, which cannot give anything back. */
    private final class Other extends MemoryConsumer {
        Other() {
            super(manager, manager.pageSizeBytes(), MemoryMode.ON_HEAP);
        }

        @Override
        public long spill(long size, MemoryConsumer trigger) {
            return 0;
        }
    }

    @AfterEach
    void everythingWasGivenBack() {
        assertEquals(0, memory.getUsed());
        assertEquals(0, manager.cleanUpAllAllocatedMemory());
    }

    private Writer writer() throws Exception {
        Writer writer = Writer.create(folder.resolve("x"),
                new WriterOptions(4).framing(Framing.OPAQUE).memoryBudget(memory).bufferSize(64 << 20));
        memory.setOutput(writer::flush);
        return writer;
    }

    private void write(Writer writer, int records) throws Exception {
        memory.setBusy(true);
        for (int i = 0; i < records; i++) {
            writer.write(i % 4, ByteBuffer.allocate(RECORD));
        }
        memory.setBusy(false);
    }

    private long finish(Writer writer) throws Exception {
        memory.setOutput(null);
        writer.finish();
        writer.close();
        long bytes = 0;
        try (Reader reader = Reader.open(folder.resolve("x"), ReaderOptions.DEFAULT); BlockCursor blocks = reader.all()) {
            while (blocks.next()) {
                bytes += blocks.plainSize();
            }
        }
        return bytes;
    }

    @Test
    void moreRecordsThanMemory() throws Exception {
        Writer writer = writer();
        write(writer, 60_000);
        assertTrue(writer.figures().regions() > 2, writer.figures().toString());
        assertEquals(60_000L * RECORD, finish(writer));
        assertTrue(memory.peak() <= MEMORY && memory.peak() > MEMORY / 2, memory.peak() + " bytes");
    }

    @Test
    void anotherOperatorGetsWhatItNeeds() throws Exception {
        Writer writer = writer();
        write(writer, 4000);
        Other other = new Other();
        // The writer keeps what it works with, 4 MB, to its end.
        assertEquals(11 << 20, other.acquireMemory(11 << 20));
        assertEquals(1, writer.figures().regions());
        assertTrue(memory.spilled() > 2 << 20, memory.spilled() + " bytes");
        write(writer, 4000);
        other.freeMemory(11 << 20);
        assertEquals(8000L * RECORD, finish(writer));
    }

    /** A writer is for one thread, and cannot end its region in the middle of a call. */
    @Test
    void nothingIsTakenFromAWriterThatIsBusy() throws Exception {
        Writer writer = writer();
        write(writer, 4000);
        Other other = new Other();
        AtomicLong elsewhere = new AtomicLong(-1);
        Thread thread = new Thread(() -> {
            long got = other.acquireMemory(11 << 20);
            other.freeMemory(got);
            elsewhere.set(got);
        });
        thread.start();
        thread.join();
        assertTrue(elsewhere.get() < 9 << 20, elsewhere + " bytes");
        memory.setBusy(true);
        long got = other.acquireMemory(11 << 20);
        other.freeMemory(got);
        memory.setBusy(false);
        assertTrue(got < 9 << 20, got + " bytes");
        assertEquals(0, writer.figures().regions());
        assertEquals(4000L * RECORD, finish(writer));
    }
}
