package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.FaroException;
import dev.faro.repair.Clean;
import dev.faro.repair.CleanOptions;
import dev.faro.repair.CleanReport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/** The operation {@code clean}. */
final class CleanOperation {
    private static final long NANOSECONDS = 1_000_000_000;

    private CleanOperation() {}

    static ObjectNode perform(JsonNode request) throws FaroException {
        CleanReport report = Clean.clean(Path.of(request.get("folder").textValue()),
                CleanOptions.DEFAULT.withOlderThan(olderThan(request)).withDryRun(request.path("dry_run").asBoolean()));
        ObjectNode answer = Answers.object();
        ArrayNode removed = answer.putArray("removed");
        report.removed().forEach(removed::add);
        ArrayNode kept = answer.putArray("kept");
        for (CleanReport.KeptFile file : report.kept()) {
            kept.addObject().put("name", file.name()).put("reason", file.reason().toString().toLowerCase(Locale.ROOT));
        }
        return answer;
    }

    private static Duration olderThan(JsonNode request) {
        if (!request.has("older_than")) {
            return CleanOptions.DEFAULT.olderThan();
        }
        double seconds = request.get("older_than").doubleValue();
        long whole = (long) seconds;
        return Duration.ofSeconds(whole, (long) ((seconds - whole) * NANOSECONDS));
    }
}
