package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** The payloads that a script describes. */
final class Payload {
    private Payload() {}

    static byte[] of(JsonNode payload) {
        if (payload.has("text")) {
            return payload.get("text").textValue().getBytes(StandardCharsets.UTF_8);
        }
        if (payload.has("hex")) {
            return HexFormat.of().parseHex(payload.get("hex").textValue());
        }
        int length = payload.get("length").intValue();
        if (payload.has("repeat")) {
            return repeat(payload.get("repeat").textValue().getBytes(StandardCharsets.UTF_8), length);
        }
        if (payload.has("random")) {
            return SplitMix64.random(payload.get("random").longValue(), length);
        }
        return SplitMix64.words(payload.get("words").longValue(), length);
    }

    private static byte[] repeat(byte[] text, int length) {
        byte[] bytes = new byte[length];
        for (int at = 0; at < length; at += text.length) {
            System.arraycopy(text, 0, bytes, at, Math.min(text.length, length - at));
        }
        return bytes;
    }
}
