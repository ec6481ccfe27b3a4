package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.FaroException;
import dev.faro.repair.Rebuild;
import dev.faro.repair.RebuildOptions;
import dev.faro.repair.Repair;
import dev.faro.repair.RepairOptions;
import dev.faro.repair.RepairReport;
import java.nio.file.Path;

/** The operation {@code repair}. */
final class RepairOperation {
    private RepairOperation() {}

    static ObjectNode perform(JsonNode request) throws FaroException {
        boolean rebuild = request.get("mode").textValue().equals("rebuild");
        RepairReport report = rebuild ? rebuild(request) : toLastCommit(request);
        ObjectNode answer = Answers.object();
        answer.put("action", switch (report.action()) {
            case NOTHING -> "nothing";
            case LAST_COMMIT -> "last-commit";
            case REBUILT -> "rebuilt";
        });
        answer.put("regions", report.regions());
        answer.put("data_cut", report.dataCut());
        answer.put("index_cut", report.indexCut());
        answer.put("orphaned", report.orphaned());
        answer.set("fault", report.fault().map(Answers::fault).orElse(null));
        return answer;
    }

    private static RepairReport toLastCommit(JsonNode request) throws FaroException {
        RepairOptions options = RepairOptions.DEFAULT.withLimits(Request.limits(request))
                .withDryRun(request.path("dry_run").asBoolean());
        Path single = Request.path(request, "single");
        return single == null
                ? Repair.repairPair(Request.path(request, "data"), Request.path(request, "index"), options)
                : Repair.repairSingle(single, options);
    }

    private static RepairReport rebuild(JsonNode request) throws FaroException {
        if (request.has("single")) {
            // Blocks and region messages are in the same file, so there is no index to lose.
            throw FaroException.invalidArgument("a pair", "a single file");
        }
        boolean sharedToAll = request.path("shared").asText().equals("all");
        boolean dryRun = request.path("dry_run").asBoolean();
        RebuildOptions options = RebuildOptions.DEFAULT.withSharedToAll(sharedToAll)
                .withLimits(Request.limits(request)).withDryRun(dryRun);
        return Rebuild.rebuild(Request.path(request, "data"), Request.path(request, "index"), options);
    }
}
