package dev.faro.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** Appends results to a file, one JSON object a line, as the page on benchmarks describes. */
public final class Results {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Path file;

    /** Makes results that go to a file; null to drop them. */
    public Results(Path file) {
        this.file = file;
    }

    /** A line without its optional keys. */
    public static ObjectNode line(String part, String subject, ObjectNode which, List<Long> nanos, long plainBytes) {
        ObjectNode line = JsonNodeFactory.instance.objectNode()
                .put("part", part)
                .put("language", "java")
                .put("subject", subject);
        line.set("case", which);
        ArrayNode seconds = line.putArray("seconds");
        nanos.forEach(value -> seconds.add(value / 1e9));
        return line.put("plain_bytes", plainBytes);
    }

    static JsonNode parse(String line) throws IOException {
        return MAPPER.readTree(line);
    }

    /** Appends a line. */
    public void append(ObjectNode line) throws IOException {
        String text = MAPPER.writeValueAsString(line) + "\n";
        if (file != null) {
            Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }
}
