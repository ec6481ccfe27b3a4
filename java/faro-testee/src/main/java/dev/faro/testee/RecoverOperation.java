package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.FaroException;
import dev.faro.repair.Recover;
import dev.faro.repair.RecoverOptions;
import dev.faro.repair.RecoverReport;
import java.nio.file.Path;

/** The operation {@code recover}. */
final class RecoverOperation {
    private RecoverOperation() {}

    static ObjectNode perform(JsonNode request) throws FaroException {
        RecoverReport report = Recover.recover(Path.of(request.get("path").textValue()),
                RecoverOptions.DEFAULT.withFileId(request.path("file_id").textValue())
                        .withOverwrite(request.path("overwrite").asBoolean()).withLimits(Request.limits(request))
                        .withDryRun(request.path("dry_run").asBoolean()));
        ObjectNode answer = Answers.object();
        answer.put("action", switch (report.action()) {
            case NOTHING -> "nothing";
            case NOTHING_SAVED -> "nothing-saved";
            case LAST_COMMIT -> "last-commit";
            case REBUILT -> "rebuilt";
            case PUBLISHED -> "published";
        });
        answer.put("file_id", report.fileId());
        answer.put("regions", report.regions());
        return answer;
    }
}
