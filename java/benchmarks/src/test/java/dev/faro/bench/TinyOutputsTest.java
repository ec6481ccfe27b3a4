package dev.faro.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.codec.Codec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The subjects of the part tiny-outputs. Each checks the bytes that it reads itself. */
class TinyOutputsTest {
    private static final long PATIENCE_MILLIS = 10_000;

    @TempDir
    private Path folder;

    private List<Path> left() throws IOException {
        try (var files = Files.list(folder)) {
            return files.toList();
        }
    }

    @Test
    void nothingStays() throws Exception {
        try (FlinkPeer flink = new FlinkPeer(FlinkPeer.Kind.SORT, TinyOutputs.PARTITIONS, 2 << 20, Codec.NONE)) {
            TinyOutputs outputs = new TinyOutputs(folder, flink);
            for (TinyOutputs.Kind kind : TinyOutputs.Kind.values()) {
                for (int i = 0; i < 3; i++) {
                    outputs.one(kind);
                }
                long end = System.currentTimeMillis() + PATIENCE_MILLIS;
                // Flink removes files in a thread of its own.
                while (kind == TinyOutputs.Kind.FLINK && !left().isEmpty() && System.currentTimeMillis() < end) {
                    Thread.sleep(1);
                }
                assertEquals(List.of(), left(), kind.toString());
            }
        }
    }

    @Test
    void aLineForEachSubject() throws Exception {
        Path out = folder.resolve("lines");
        Arguments arguments = Arguments.parse(new String[] {
                "tiny-outputs", "--out", out.toString(), "--dir", folder.toString(), "--quick"});
        assertEquals(List.of(), TinyOutputsCases.runs(arguments, folder));
        List<String> lines = Files.readAllLines(out);
        assertEquals(TinyOutputs.Kind.values().length, lines.size());
        for (int i = 0; i < lines.size(); i++) {
            var line = Results.parse(lines.get(i));
            assertEquals(TinyOutputs.Kind.values()[i].toString(), line.get("subject").asText());
            assertTrue(line.get("figures").get("microseconds_each").asDouble() > 0, lines.get(i));
        }
    }
}
