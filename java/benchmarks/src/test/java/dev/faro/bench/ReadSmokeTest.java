package dev.faro.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each subject that reads reads everything, and fails if it does not. */
class ReadSmokeTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"file, none", "partition, none", "partition, lz4", "partition, zstd"})
    void eachSubjectReadsAll(String order, String codec) throws Exception {
        WriteCase writeCase = WriteBenchmark.make("text", 100, 80, 2, codec, 6);
        for (String name : List.of("faro", "faro-scheduler", "flink", "raw-pread", "raw-pread-crc")) {
            try (WriteSubject subject = ReadBenchmark.subject(name, order, writeCase, folder)) {
                assertEquals(name, subject.name());
                assertTrue(subject.write().nanos() > 0);
                assertTrue(subject.write().storedBytes() >= 0);
            }
        }
    }

    @Test
    void damageIsNotMeasured() throws Exception {
        WriteCase writeCase = WriteBenchmark.make("text", 100, 80, 2, "none", 6);
        for (String name : List.of("faro", "faro-scheduler")) {
            try (WriteSubject subject = ReadBenchmark.subject(name, "partition", writeCase, folder)) {
                try (FileChannel file = FileChannel.open(folder.resolve("faro.data"), StandardOpenOption.WRITE)) {
                    file.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), file.size() / 2);
                }
                assertThrows(IOException.class, subject::write);
            }
        }
    }

    @Test
    void theScheduler() throws Exception {
        Path out = folder.resolve("out");
        Arguments arguments = Arguments.parse(
                new String[] {"scheduler", "--out", out.toString(), "--dir", folder.toString(), "--quick"});
        assertTrue(SchedulerCases.runs(arguments, folder).isEmpty());
        List<String> lines = Files.readAllLines(out);
        assertEquals(6, lines.size());
        for (int i = 0; i < lines.size(); i += 2) {
            JsonNode together = Results.parse(lines.get(i));
            JsonNode alone = Results.parse(lines.get(i + 1));
            assertEquals("scheduler", together.get("subject").asText());
            assertEquals(together.get("case"), alone.get("case"));
            assertEquals(together.get("plain_bytes"), alone.get("plain_bytes"));
            // The scheduler makes fewer reads, whatever the sizes.
            long reads = together.get("figures").get("reads").asLong();
            assertTrue(5 * reads < alone.get("figures").get("reads").asLong(), lines.get(i));
        }
    }
}
