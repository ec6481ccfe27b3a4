package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.hybrid.HybridConsumer;
import dev.faro.hybrid.HybridFigures;
import dev.faro.hybrid.HybridMemory;
import dev.faro.hybrid.HybridMode;
import dev.faro.hybrid.HybridOptions;
import dev.faro.hybrid.HybridPosition;
import dev.faro.hybrid.HybridStore;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The operation {@code hybrid}: stores of one memory, and their consumers. */
final class HybridOperation {
    private final HybridMemory memory;
    private final List<HybridStore> stores = new ArrayList<>();
    private final Map<String, HybridConsumer> consumers = new HashMap<>();
    private final ObjectNode answer = Answers.object();
    private final ArrayNode errors = answer.putArray("errors");
    private final ArrayNode taken = answer.putArray("taken");
    private final ArrayNode figures = answer.putArray("figures");

    private HybridOperation(HybridMemory memory) {
        this.memory = memory;
    }

    static ObjectNode perform(JsonNode request) throws FaroException {
        HybridOperation script = new HybridOperation(new HybridMemory(request.get("memory").longValue()));
        try {
            return script.run(request);
        } finally {
            script.stores.forEach(HybridStore::close);
        }
    }

    private ObjectNode run(JsonNode request) throws FaroException {
        String path = request.get("path").textValue();
        for (JsonNode store : request.get("stores")) {
            HybridMode mode = HybridMode.valueOf(store.get("mode").textValue().toUpperCase(Locale.ROOT));
            HybridOptions options = new HybridOptions(memory, mode).delay(Duration.ofDays(1000));
            Path name = Path.of(stores.isEmpty() ? path : path + "-" + stores.size());
            stores.add(HybridStore.create(name, WriteOperation.options(store.get("options")), options));
        }
        JsonNode calls = request.get("calls");
        for (int i = 0; i < calls.size(); i++) {
            try {
                call(calls.get(i));
            } catch (FaroException e) {
                errors.addObject().put("call", i).put("code", e.code().toString());
            }
        }
        return answer;
    }

    private void call(JsonNode call) throws FaroException {
        int number = call.path("store").asInt();
        HybridStore store = stores.get(number);
        switch (call.get("call").textValue()) {
            case "write", "broadcast", "multicast" -> put(store, call);
            case "many" -> WriteOperation.many(call, store::write);
            case "flush" -> store.flush();
            case "property" -> store.property(call.get("key").textValue(), call.get("value").textValue());
            case "finish" -> store.finish();
            case "open" -> {
                HybridPosition from = call.has("after") ? consumer(number, call.get("after")).position()
                        : HybridPosition.START;
                consumers.put(number + " " + call.get("consumer").textValue(),
                        store.open(Request.saturated(call.get("partition")), from, null));
            }
            case "take" -> take(consumer(number, call.get("consumer")), call.get("blocks").longValue());
            case "close_consumer" -> consumer(number, call.get("consumer")).close();
            case "figures" -> {
                HybridFigures now = store.figures();
                figures.addObject().put("regions", now.regions()).put("bytes", now.bytes())
                        .put("in_memory", now.inMemory()).put("written", now.written())
                        .put("used", memory.used());
            }
            case "close" -> store.close();
            case "release" -> store.release();
            default -> throw new IllegalArgumentException("no such call: " + call);
        }
    }

    private HybridConsumer consumer(int store, JsonNode name) throws FaroException {
        HybridConsumer found = consumers.get(store + " " + name.textValue());
        if (found == null) {
            throw FaroException.invalidArgument("an open consumer", name);
        }
        return found;
    }

    private static void put(HybridStore store, JsonNode call) throws FaroException {
        ByteBuffer payload = ByteBuffer.wrap(Payload.of(call.get("payload")));
        int kind = WriteOperation.kind(call);
        boolean record = kind == BlockKind.DATA;
        switch (call.get("call").textValue()) {
            case "write" -> {
                int partition = Request.saturated(call.get("partition"));
                if (record) {
                    store.write(partition, payload);
                } else {
                    store.writeEvent(partition, kind, payload);
                }
            }
            case "broadcast" -> {
                if (record) {
                    store.broadcast(payload);
                } else {
                    store.broadcastEvent(kind, payload);
                }
            }
            default -> {
                int[] partitions = Request.numbers(call.get("partitions"));
                if (record) {
                    store.multicast(partitions, payload);
                } else {
                    store.multicastEvent(partitions, kind, payload);
                }
            }
        }
    }

    private void take(HybridConsumer consumer, long most) throws FaroException {
        Content content = new Content();
        for (long i = 0; i < most && consumer.next(); i++) {
            content.add(consumer.block().kind(), consumer.block().payload());
        }
        taken.addObject().put("blocks", content.blocks()).put("sha256", content.sha256())
                .put("finished", consumer.isFinished());
    }
}
