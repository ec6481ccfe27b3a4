package dev.faro.bench;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The subjects of the part merge. */
class MergeTest {
    @TempDir
    private Path folder;

    @Test
    void eachMergesAllBlocks() throws Exception {
        PushedBlocks pushed = PushedBlocks.make(folder, 10_000, 300);
        byte[] plain = Files.readAllBytes(pushed.plain());
        MergeFaro faro = new MergeFaro(pushed);
        faro.write();
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        try (Reader reader = Reader.openPair(
                        folder.resolve("merged.data"), folder.resolve("merged.index"), ReaderOptions.DEFAULT);
                BlockCursor blocks = reader.partition(0)) {
            while (blocks.next()) {
                ByteBuffer payload = blocks.payload();
                while (payload.hasRemaining()) {
                    read.write(payload.get());
                }
            }
        }
        assertArrayEquals(plain, read.toByteArray());
        new MergeSpark(pushed).write();
        try (var files = Files.walk(folder.resolve("spark"))) {
            Path data = files.filter(file -> file.toString().endsWith(".data")).findFirst().orElseThrow();
            assertArrayEquals(plain, Files.readAllBytes(data));
        }
        new MergeLimit(pushed).write();
        assertEquals(-1, Files.mismatch(pushed.fragments(), folder.resolve("copy")));
    }

    @Test
    void aLineForEachSubject() throws Exception {
        Path out = folder.resolve("lines");
        Arguments arguments = Arguments.parse(
                new String[] {"merge", "--out", out.toString(), "--dir", folder.toString(), "--quick"});
        assertEquals(List.of(), MergeCases.runs(arguments, folder));
        List<String> lines = Files.readAllLines(out);
        assertEquals(6, lines.size());
        for (String text : lines) {
            var line = Results.parse(text);
            boolean indexed = !line.get("subject").asText().equals("read-crc-write");
            assertEquals(indexed, line.has("figures") && line.get("figures").get("index_bytes_each").asDouble() > 0);
            assertTrue(line.get("seconds").size() == 1, text);
        }
    }
}
