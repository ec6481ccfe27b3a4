package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.FaroException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * The Java implementation as a child process of the conformance runner: it reads a JSON object a line, and writes a
 * line for each. Exceptions other than the library's own end the process, because they are bugs of the library and not
 * answers.
 */
public final class Main {
    private final ObjectMapper json = new ObjectMapper();
    private final FollowOperation follow = new FollowOperation();
    private boolean stopped;

    private Main() {}

    public static void main(String[] args) throws IOException {
        new Main().run();
    }

    private void run() throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (!stopped) {
            String line = in.readLine();
            if (line == null) {
                return;
            }
            byte[] answer = json.writeValueAsBytes(answer(json.readTree(line)));
            System.out.write(answer);
            System.out.write('\n');
            System.out.flush();
        }
    }

    private ObjectNode answer(JsonNode request) {
        ObjectNode answer = Answers.object();
        answer.set("id", request.get("id"));
        try {
            ObjectNode ok = perform(request);
            if (ok == null) {
                answer.put("unsupported", "no such operation: " + request.get("op"));
            } else {
                answer.set("ok", ok);
            }
        } catch (FaroException e) {
            answer.set("error", Answers.error(e));
        }
        return answer;
    }

    private ObjectNode perform(JsonNode request) throws FaroException {
        switch (request.get("op").asText()) {
            case "hello":
                return Answers.hello();
            case "read":
                return ReadOperation.perform(request);
            case "write":
                return WriteOperation.perform(request);
            case "check":
                return CheckOperation.perform(request);
            case "repair":
                return RepairOperation.perform(request);
            case "recover":
                return RecoverOperation.perform(request);
            case "clean":
                return CleanOperation.perform(request);
            case "hybrid":
                return HybridOperation.perform(request);
            case "follow":
                return follow.perform(request);
            case "fragment":
                return FragmentOperations.make(request);
            case "region_fragments":
                return FragmentOperations.makeOfRegion(request);
            case "fragments":
                return FragmentOperations.read(request);
            case "merge":
                return MergeOperation.perform(request);
            case "provenance":
                return ProvenanceOperations.provenance(request);
            case "read_merged":
                return ProvenanceOperations.readMerged(request);
            case "file_id":
                return ProvenanceOperations.fileId(request);
            case "plan_pushes":
                return ProvenanceOperations.planPushes(request);
            case "stop":
                stopped = true;
                return Answers.object();
            default:
                return null;
        }
    }
}
