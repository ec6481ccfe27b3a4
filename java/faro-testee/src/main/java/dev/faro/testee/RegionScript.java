package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import dev.faro.FaroException;
import dev.faro.codec.Codec;
import dev.faro.writer.RegionWriter;
import dev.faro.writer.StoredBlock;
import dev.faro.writer.Writer;
import java.nio.ByteBuffer;

/** The call {@code region} of a script: writes one region block by block, and drops it if a call is refused. */
final class RegionScript {
    private RegionScript() {}

    static void run(Writer writer, JsonNode blocks) throws FaroException {
        try (RegionWriter region = writer.region()) {
            for (JsonNode block : blocks) {
                if (block.has("shared")) {
                    shared(region, block.get("shared"));
                } else if (block.has("sequence")) {
                    region.sequence(block.get("sequence").longValue());
                } else if (block.has("stored")) {
                    stored(region, block);
                } else {
                    plain(region, block);
                }
            }
            region.end();
        }
    }

    private static void shared(RegionWriter region, JsonNode members) throws FaroException {
        if (members.isArray()) {
            region.shared(Request.numbers(members));
        } else {
            region.sharedAll();
        }
    }

    private static void plain(RegionWriter region, JsonNode block) throws FaroException {
        ByteBuffer payload = ByteBuffer.wrap(Payload.of(block.get("payload")));
        int kind = WriteOperation.kind(block);
        long records = block.path("records").asLong();
        if (block.has("partition")) {
            region.block(Request.saturated(block.get("partition")), kind, payload, records);
        } else {
            region.block(kind, payload, records);
        }
    }

    private static void stored(RegionWriter region, JsonNode block) throws FaroException {
        ByteBuffer payload = ByteBuffer.wrap(Payload.of(block.get("stored")));
        Codec codec = Codec.of(Request.saturated(block.get("codec")));
        int dictionary = block.has("dictionary") ? Request.saturated(block.get("dictionary")) : 0;
        StoredBlock stored = StoredBlock
                .of(WriteOperation.kind(block), codec, block.get("plain_size").longValue(), payload)
                .withDictionary(dictionary);
        long records = block.path("records").asLong();
        if (block.has("partition")) {
            region.storedBlock(Request.saturated(block.get("partition")), stored, records);
        } else {
            region.storedBlock(stored, records);
        }
    }
}
