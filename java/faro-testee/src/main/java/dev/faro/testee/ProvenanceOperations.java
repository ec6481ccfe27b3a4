package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.FaroException;
import dev.faro.merge.Expected;
import dev.faro.merge.FileIds;
import dev.faro.merge.Have;
import dev.faro.merge.MergedCursor;
import dev.faro.merge.Missing;
import dev.faro.merge.PlacedRun;
import dev.faro.merge.PlannedPush;
import dev.faro.merge.Provenance;
import dev.faro.merge.PushPlan;
import dev.faro.reader.Reader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;

/** The operations {@code provenance}, {@code read_merged}, {@code file_id} and {@code plan_pushes}. */
final class ProvenanceOperations {
    private ProvenanceOperations() {}

    private static List<Expected> expected(JsonNode request) {
        List<Expected> expected = new ArrayList<>();
        request.get("expected").forEach(one -> expected.add(new Expected(
                Long.parseUnsignedLong(one.get("producer").textValue()),
                Long.parseUnsignedLong(one.get("attempt").textValue()))));
        return expected;
    }

    static ObjectNode provenance(JsonNode request) throws FaroException {
        ObjectNode answer = Answers.object();
        ObjectNode partitions = answer.putObject("partitions");
        try (Reader reader = ReadOperation.open(request)) {
            for (int partition : Request.numbers(request.get("partitions"))) {
                ObjectNode of = partitions.putObject(Integer.toString(partition));
                ArrayNode runs = of.putArray("runs");
                for (PlacedRun placed : Provenance.runs(reader, partition)) {
                    names(runs.addObject().put("region", placed.region()), placed.run().producer(),
                            placed.run().attempt())
                            .put("first_block", placed.run().firstBlock())
                            .put("blocks", placed.run().blocks())
                            .put("length", placed.run().length())
                            .put("last", placed.run().last());
                }
                ArrayNode have = of.putArray("have");
                for (Have one : Provenance.have(reader, partition)) {
                    names(have.addObject(), one.producer(), one.attempt())
                            .put("blocks", one.blocks()).put("last", one.complete());
                }
                ArrayNode missing = of.putArray("missing");
                for (Missing one : Provenance.missing(reader, partition, expected(request))) {
                    names(missing.addObject(), one.producer(), one.attempt()).put("from", one.from());
                }
            }
        }
        return answer;
    }

    private static ObjectNode names(ObjectNode to, long producer, long attempt) {
        return to.put("producer", Long.toUnsignedString(producer)).put("attempt", Long.toUnsignedString(attempt));
    }

    static ObjectNode readMerged(JsonNode request) throws FaroException {
        JsonNode originals = request.get("originals");
        MergedCursor.Originals opener = of -> {
            JsonNode files = originals.get(Long.toUnsignedString(of.producer()));
            if (files == null) {
                throw FaroException.invalidArgument("the original of a producer", of.producer());
            }
            return ReadOperation.open(files);
        };
        MessageDigest hash = Content.newDigest();
        long blocks = 0;
        long fromOriginals = 0;
        int partition = Request.saturated(request.get("partition"));
        ObjectNode answer = Answers.object();
        try (Reader reader = ReadOperation.open(request);
                MergedCursor cursor = MergedCursor.open(reader, partition, expected(request), opener)) {
            while (cursor.next()) {
                ByteBuffer head = ByteBuffer.allocate(17).order(ByteOrder.LITTLE_ENDIAN);
                head.putLong(cursor.producer()).putInt((int) cursor.number()).put((byte) cursor.kind());
                hash.update(head.putInt(cursor.plainSize()).flip());
                hash.update(cursor.payload());
                blocks++;
                fromOriginals += cursor.isOriginal() ? 1 : 0;
            }
            answer.put("blocks", blocks).put("from_originals", fromOriginals);
            ArrayNode faults = answer.putArray("faults");
            cursor.faults().forEach(fault -> faults.add(Answers.error(fault)));
        }
        return answer.put("sha256", HexFormat.of().formatHex(hash.digest()));
    }

    static ObjectNode fileId(JsonNode request) {
        JsonNode names = request.get("names");
        String application = names.get("application").textValue();
        String shuffle = names.get("shuffle").textValue();
        UUID id = names.has("producer")
                ? FileIds.output(application, shuffle, Long.parseUnsignedLong(names.get("producer").textValue()),
                        Long.parseUnsignedLong(names.get("attempt").textValue()))
                : FileIds.merged(application, shuffle, Long.parseUnsignedLong(names.get("generation").textValue()),
                        Request.saturated(names.get("first_partition")));
        return Answers.object().put("file_id", id.toString().replace("-", ""));
    }

    /** The pushes of producers. */
    static ObjectNode planPushes(JsonNode request) throws FaroException {
        JsonNode options = request.get("options");
        int mergers = options.get("mergers").intValue();
        PushPlan plan = new PushPlan(options.get("partition_count").longValue(), mergers)
                .firstPartition(options.path("first_partition").longValue());
        if (options.has("push_size")) {
            plan.pushSize(options.get("push_size").longValue());
        }
        if (options.has("largest_partition")) {
            plan.largestPartition(options.get("largest_partition").longValue());
        }
        ObjectNode pushes = Answers.object();
        for (JsonNode one : request.get("producers")) {
            long[] bytes = new long[one.get("bytes").size()];
            Arrays.setAll(bytes, place -> one.get("bytes").get(place).longValue());
            ArrayNode found = pushes.putArray(one.get("producer").textValue());
            for (PlannedPush push : plan.pushes(Long.parseUnsignedLong(one.get("producer").textValue()), bytes)) {
                found.addArray().add(push.merger()).add(push.firstPartition()).add(push.partitionCount()).add(push.bytes());
            }
        }
        ObjectNode answer = Answers.object();
        ArrayNode ranges = answer.putArray("mergers");
        for (int merger = 0; merger < mergers; merger++) {
            int first = plan.firstPartitionOf(merger);
            int end = plan.firstPartitionOf(merger + 1);
            ranges.addArray().add(first).add(end - first);
            for (int partition = first; partition < end; partition++) {
                if (plan.merger(partition) != merger) {
                    throw new IllegalStateException("the merger of partition " + partition);
                }
            }
        }
        answer.set("pushes", pushes);
        return answer;
    }
}
