package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.merge.Merge;
import dev.faro.merge.MergeOptions;
import dev.faro.merge.MergeSummary;
import dev.faro.merge.Outcome;
import dev.faro.merge.Push;
import dev.faro.writer.Durability;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The operation {@code merge}. */
final class MergeOperation {
    private final Merge merge;
    private final List<byte[]> fragments;
    private final Map<String, Push> pushes = new HashMap<>();

    private MergeOperation(Merge merge, List<byte[]> fragments) {
        this.merge = merge;
        this.fragments = fragments;
    }

    static ObjectNode perform(JsonNode request) throws FaroException {
        Path name = Request.path(request, "path");
        MergeOptions options = options(request.get("options")).limits(Request.limits(request));
        boolean resumes = request.get("mode").textValue().equals("resume");
        ObjectNode answer = Answers.object();
        try (Merge merge = resumes ? Merge.resume(name, options) : Merge.create(name, options)) {
            List<byte[]> fragments = new ArrayList<>();
            request.get("fragments").forEach(path -> fragments.add(read(Path.of(path.textValue()))));
            MergeOperation operation = new MergeOperation(merge, fragments);
            ArrayNode steps = answer.putArray("steps");
            for (JsonNode step : request.get("steps")) {
                ObjectNode taken = Answers.object();
                try {
                    operation.take(step, taken);
                } catch (FaroException e) {
                    taken.removeAll();
                    taken.set("error", Answers.error(e));
                }
                steps.add(taken);
            }
            operation.pushes.values().forEach(Push::close);
        }
        return answer;
    }

    private static byte[] read(Path path) {
        try {
            return Files.readAllBytes(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static MergeOptions options(JsonNode given) {
        MergeOptions options = new MergeOptions(given.get("partition_count").longValue());
        given.properties().forEach(option -> {
            JsonNode value = option.getValue();
            switch (option.getKey()) {
                case "partition_count" -> { }
                case "first_partition" -> options.firstPartition(value.longValue());
                case "framing" -> options.framing(Framing.valueOf(value.textValue().toUpperCase(Locale.ROOT)));
                case "file_id" -> options.fileId(WriteOperation.uuid(value.textValue()));
                case "generation" -> options.generation(Long.parseUnsignedLong(value.textValue()));
                case "names" -> options.names(FragmentOperations.names(value));
                case "schema" -> options.schema(Payload.of(value));
                case "dictionaries" -> options.dictionaries(value.booleanValue());
                case "chunk_size" -> options.chunkSize(value.longValue());
                case "max_waiting" -> options.maxWaiting(value.longValue());
                case "durability" ->
                    options.durability(Durability.valueOf(value.textValue().toUpperCase(Locale.ROOT)));
                case "created_by" -> options.createdBy(value.textValue());
                case "properties" ->
                    value.properties().forEach(one -> options.property(one.getKey(), one.getValue().textValue()));
                default -> throw new IllegalArgumentException("no such option: " + option.getKey());
            }
        });
        return options;
    }

    private void take(JsonNode step, ObjectNode answer) throws FaroException {
        String name = step.path("push").asText();
        switch (step.get("call").textValue()) {
            case "begin" -> {
                Merge.Begun begun = merge.begin(Long.parseUnsignedLong(step.get("producer").textValue()),
                        Long.parseUnsignedLong(step.get("generation").textValue()));
                if (begun.push() != null) {
                    pushes.put(name, begun.push());
                }
                answer.put("outcome", begun.push() == null ? begun.refused().toString() : "open");
            }
            case "write" -> {
                byte[] fragment = fragments.get(step.get("fragment").intValue());
                int from = step.path("from").asInt(0);
                int to = step.path("to").asInt(fragment.length);
                Outcome refused = push(name).write(ByteBuffer.wrap(fragment, from, to - from));
                answer.put("outcome", refused == null ? "taken" : refused.toString());
            }
            case "commit" -> answer.put("outcome", push(name).commit().toString());
            case "abort" -> {
                push(name).close();
                answer.put("outcome", "done");
            }
            case "flush" -> {
                merge.flush();
                answer.put("outcome", "done");
            }
            case "release" -> {
                merge.release();
                answer.put("outcome", "done");
            }
            case "close" -> {
                merge.close();
                answer.put("outcome", "done");
            }
            case "remove" -> {
                merge.remove();
                answer.put("outcome", "done");
            }
            case "finalize" -> {
                MergeSummary summary = merge.finish();
                answer.put("outcome", "finalized").put("runs", summary.runs());
            }
            default -> throw new IllegalArgumentException("no such call: " + step.get("call"));
        }
    }

    private Push push(String name) throws FaroException {
        Push push = pushes.get(name);
        if (push == null) {
            throw FaroException.invalidArgument("a push that was begun", name);
        }
        return push;
    }
}
