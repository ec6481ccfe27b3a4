package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import dev.faro.Limits;
import java.nio.file.Path;

/** Fields that several requests share. */
final class Request {
    private Request() {}

    /** The path of a role, or null if the request does not have it. */
    static Path path(JsonNode request, String role) {
        JsonNode path = request.get(role);
        return path == null ? null : Path.of(path.textValue());
    }

    static Limits limits(JsonNode request) {
        JsonNode limits = request.path("limits");
        Limits defaults = Limits.DEFAULT;
        return Limits.DEFAULT.withMaxBlockSize(limits.path("max_block_size").asLong(defaults.maxBlockSize()))
                .withMaxPlainSize(limits.path("max_plain_size").asLong(defaults.maxPlainSize()))
                .withMaxMessageSize(limits.path("max_message_size").asLong(defaults.maxMessageSize()))
                .withMaxRegions(limits.path("max_regions").asLong(defaults.maxRegions()))
                .withMaxDictionarySize(limits.path("max_dictionary_size").asLong(defaults.maxDictionarySize()))
                .withMaxDictionaries(limits.path("max_dictionaries").asLong(defaults.maxDictionaries()))
                .withMaxWindowSize(limits.path("max_window_size").asLong(defaults.maxWindowSize()));
    }

    /**
     * A number for a parameter of type int. A number outside the range of int becomes the nearest int: the library
     * refuses both, while a cast could make a valid number.
     */
    static int saturated(JsonNode number) {
        return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, number.longValue()));
    }

    static int[] numbers(JsonNode list) {
        int[] numbers = new int[list.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = saturated(list.get(i));
        }
        return numbers;
    }
}
