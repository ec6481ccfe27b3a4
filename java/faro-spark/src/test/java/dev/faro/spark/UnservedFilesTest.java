package dev.faro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A sorted output is in memory if it is small, else in temporary files, of which none stays. */
class UnservedFilesTest {
    private static final int SINGLE_BELOW = 1000;

    @TempDir
    Path folder;

    private final AtomicInteger names = new AtomicInteger();

    private UnservedFiles files() {
        return new UnservedFiles("output", () -> new File(folder.toFile(), "temp-" + names.getAndIncrement()));
    }

    private static Writer writer(UnservedFiles files) throws IOException {
        return Writer.createIn(files, new WriterOptions(3).framing(Framing.OPAQUE).singleBelow(SINGLE_BELOW));
    }

    private List<Path> left() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.toList();
        }
    }

    private static int bytesOf(Reader reader, int partition) throws IOException {
        int bytes = 0;
        try (BlockCursor blocks = reader.partition(partition)) {
            while (blocks.next()) {
                bytes += blocks.payload().remaining();
            }
        }
        return bytes;
    }

    @Test
    void aSmallOutputIsInMemory() throws IOException {
        try (UnservedFiles files = files(); Writer writer = writer(files)) {
            writer.write(1, ByteBuffer.allocate(100));
            try (Reader reader = writer.finishAndOpen(ReaderOptions.DEFAULT).reader()) {
                assertEquals(100, bytesOf(reader, 1));
            }
            assertEquals(List.of(), left());
        }
    }

    @Test
    void aLargeOutputAndOneWithRegionsHaveTemporaryFiles() throws IOException {
        for (boolean isFlushed : new boolean[] {false, true}) {
            try (UnservedFiles files = files(); Writer writer = writer(files)) {
                int bytes = isFlushed ? 10 : 2 * SINGLE_BELOW;
                writer.write(2, ByteBuffer.allocate(bytes));
                if (isFlushed) {
                    writer.flush();
                }
                try (Reader reader = writer.finishAndOpen(ReaderOptions.DEFAULT).reader()) {
                    assertEquals(bytes, bytesOf(reader, 2));
                    assertEquals(2, left().size());
                }
            }
            assertEquals(List.of(), left());
        }
    }

    @Test
    void anOutputThatIsGivenUpLeavesNothing() throws IOException {
        try (UnservedFiles files = files(); Writer writer = writer(files)) {
            writer.write(2, ByteBuffer.allocate(10));
            writer.flush();
            assertEquals(2, left().size());
            writer.abort();
            assertEquals(List.of(), left());
        }
    }

    @Test
    void aFileThatCannotBeMadeIsAnError() throws IOException {
        try (UnservedFiles files = new UnservedFiles("output", () -> new File(folder.toFile(), "nosuch/temp"));
                Writer writer = writer(files)) {
            writer.write(2, ByteBuffer.allocate(10));
            assertThrows(FaroException.class, writer::flush);
        }
        assertEquals(List.of(), left());
    }
}
