package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.codec.Codec;
import dev.faro.writer.Durability;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;

/** The operation {@code write}: a script of calls of one writer. */
final class WriteOperation {
    private static final Map<String, Codec> CODECS = Map.of("none", Codec.NONE, "lz4", Codec.LZ4, "zstd", Codec.ZSTD);

    private final Writer writer;
    private boolean finished;
    /** The numbers that calls returned; null if there were no such calls. */
    private ArrayNode dictionaries;

    private WriteOperation(Writer writer) {
        this.writer = writer;
    }

    static ObjectNode perform(JsonNode request) throws FaroException {
        WriterOptions options = options(request.get("options"));
        Path path = Path.of(request.get("path").textValue());
        boolean follow = request.get("options").path("follow").asBoolean();
        StorageOutput output = follow ? null : StoredFiles.output(path);
        ObjectNode answer;
        try (Writer writer = output == null ? Writer.create(path, options) : Writer.createIn(output, options)) {
            answer = new WriteOperation(writer).run(request.get("calls"));
        }
        if (output != null) {
            output.toFiles();
        }
        return answer;
    }

    static WriterOptions options(JsonNode request) {
        WriterOptions options = new WriterOptions(request.path("partition_count").asLong());
        request.properties().forEach(option -> set(options, option.getKey(), option.getValue()));
        return options;
    }

    private static void set(WriterOptions options, String name, JsonNode value) {
        switch (name) {
            case "layout" -> options.layout(Layout.valueOf(constant(value)));
            case "partition_count" -> { }
            case "single_below" -> options.singleBelow(value.longValue());
            case "first_partition" -> options.firstPartition(value.longValue());
            case "framing" -> options.framing(Framing.valueOf(constant(value)));
            case "producer" -> options.producer(Long.parseUnsignedLong(value.textValue()));
            case "attempt" -> options.attempt(Long.parseUnsignedLong(value.textValue()));
            case "file_id" -> options.fileId(uuid(value.textValue()));
            case "block_size" -> options.blockSize(value.longValue());
            case "buffer_size" -> options.bufferSize(value.longValue());
            case "codec" -> options.codec(CODECS.get(value.asText()));
            case "level" -> options.level(Request.saturated(value));
            case "dictionaries" -> options.dictionaries(value.booleanValue());
            case "ordered" -> options.ordered(value.booleanValue());
            case "rotation" -> options.rotation(value.longValue());
            case "selective" -> options.selective(value.booleanValue());
            case "statistics" -> options.statistics(value.booleanValue());
            case "created_by" -> options.createdBy(value.textValue());
            case "durability" -> options.durability(Durability.valueOf(constant(value)));
            case "follow" -> options.follow(value.booleanValue());
            case "overwrite" -> options.overwrite(value.booleanValue());
            case "max_plain_size" -> options.maxPlainSize(value.longValue());
            case "schema" -> options.schema(Payload.of(value));
            default -> throw new IllegalArgumentException("no such option: " + name);
        }
    }

    private static String constant(JsonNode value) {
        return value.textValue().toUpperCase(Locale.ROOT);
    }

    static UUID uuid(String hex) {
        long high = Long.parseUnsignedLong(hex.substring(0, 16), 16);
        return new UUID(high, Long.parseUnsignedLong(hex.substring(16), 16));
    }

    private ObjectNode run(JsonNode calls) {
        ObjectNode answer = Answers.object();
        ArrayNode errors = answer.putArray("errors");
        for (JsonNode call : calls) {
            if (call.get("call").textValue().equals("dictionary") && dictionaries == null) {
                dictionaries = answer.putArray("dictionaries");
            }
        }
        for (int i = 0; i < calls.size(); i++) {
            try {
                call(calls.get(i));
            } catch (FaroException e) {
                errors.addObject().put("call", i).put("code", e.code().toString());
            }
        }
        answer.put("finished", finished);
        return answer;
    }

    /** Writes a record, or an event if the kind is not 0. */
    private void put(JsonNode call, ByteBuffer payload, int kind) throws FaroException {
        boolean record = kind == BlockKind.DATA;
        switch (call.get("call").textValue()) {
            case "write" -> {
                int partition = Request.saturated(call.get("partition"));
                if (record) {
                    writer.write(partition, payload);
                } else {
                    writer.writeEvent(partition, kind, payload);
                }
            }
            case "broadcast" -> {
                if (record) {
                    writer.broadcast(payload);
                } else {
                    writer.broadcastEvent(kind, payload);
                }
            }
            default -> {
                int[] partitions = Request.numbers(call.get("partitions"));
                if (record) {
                    writer.multicast(partitions, payload);
                } else {
                    writer.multicastEvent(partitions, kind, payload);
                }
            }
        }
    }

    private void call(JsonNode call) throws FaroException {
        switch (call.get("call").textValue()) {
            case "write", "broadcast", "multicast" -> put(call, payload(call), kind(call));
            case "many" -> many(call, writer::write);
            case "flush" -> writer.flush();
            case "skip_to" -> writer.skipTo(
                    Request.saturated(call.get("partition")), call.get("sequence").longValue());
            case "skip_shared_to" -> writer.skipSharedTo(call.get("sequence").longValue());
            case "finish" -> {
                writer.finish();
                finished = true;
            }
            case "abort" -> writer.abort();
            case "property" -> writer.property(call.get("key").textValue(), call.get("value").textValue());
            case "dictionary" -> dictionaries.add(writer.dictionary(Payload.of(call.get("payload"))));
            case "region" -> RegionScript.run(writer, call.get("blocks"));
            default -> throw new IllegalArgumentException("no such call: " + call);
        }
    }

    private static ByteBuffer payload(JsonNode call) {
        return ByteBuffer.wrap(Payload.of(call.get("payload")));
    }

    static int kind(JsonNode call) {
        return call.has("kind") ? Request.saturated(call.get("kind")) : 0;
    }

    /** Takes a record. */
    interface Target {
        void write(int partition, ByteBuffer record) throws FaroException;
    }

    /** Makes the data records of the call {@code many}, one after another. */
    static void many(JsonNode call, Target target) throws FaroException {
        SplitMix64 generator = new SplitMix64(call.get("seed").longValue());
        JsonNode partitions = call.get("partitions");
        JsonNode length = call.get("length");
        boolean words = call.get("content").textValue().equals("words");
        long count = call.get("count").longValue();
        for (long i = 0; i < count; i++) {
            int partition = (int) generator.next(partitions.get(0).longValue(), partitions.get(1).longValue());
            int size = (int) generator.next(length.get(0).longValue(), length.get(1).longValue() + 1);
            long seed = generator.next();
            byte[] record = words ? SplitMix64.words(seed, size) : SplitMix64.random(seed, size);
            target.write(partition, ByteBuffer.wrap(record));
        }
    }
}
