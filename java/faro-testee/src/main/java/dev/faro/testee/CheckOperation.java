package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.FaroException;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.check.CheckReport;
import dev.faro.reader.Reader;
import java.util.Locale;

/** The operation {@code check}. */
final class CheckOperation {
    private CheckOperation() {}

    static ObjectNode perform(JsonNode request) throws FaroException {
        CheckLevel level = CheckLevel.valueOf(request.get("level").textValue().toUpperCase(Locale.ROOT));
        try (Reader reader = ReadOperation.open(request)) {
            CheckReport result = Check.check(reader, level);
            ObjectNode answer = Answers.object();
            answer.put("regions", result.regions());
            answer.put("blocks", level == CheckLevel.STRUCTURE ? null : result.blocks());
            return answer;
        }
    }
}
