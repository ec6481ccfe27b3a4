package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** That the shuffles that are compared are those of their names, which their files show. */
class JobsBenchmarkTest {
    private static final int PARALLELISM = 3;

    @TempDir
    private Path folder;

    @Test
    void shufflesAreWhatTheirNamesSay() throws Exception {
        Path out = folder.resolve("lines");
        new JobsBenchmark(
                Map.of("--out", out.toString(), "job", "rebalance", "partitions", "" + PARALLELISM,
                        "--plain-mib", "4", "--repetitions", "1"),
                folder).run();
        Map<String, JsonNode> found = new HashMap<>();
        for (String line : Files.readAllLines(out)) {
            JsonNode node = new ObjectMapper().readTree(line);
            found.put(node.get("subject").asText(), node);
        }
        // A data file and an index for each producer, or a file for each producer and consumer.
        assertEquals(Map.of("faro", 2 * PARALLELISM, "flink-sort", 2 * PARALLELISM,
                "flink-hash", PARALLELISM * PARALLELISM), files(found));
        assertTrue(found.get("faro").get("index_bytes").asLong() > 0);
        assertEquals(0, found.get("flink-hash").get("index_bytes").asLong());
    }

    private static Map<String, Integer> files(Map<String, JsonNode> found) {
        Map<String, Integer> files = new HashMap<>();
        found.forEach((subject, line) -> files.put(subject, line.get("files").asInt()));
        return files;
    }
}
