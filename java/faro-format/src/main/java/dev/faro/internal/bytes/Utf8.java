package dev.faro.internal.bytes;

import dev.faro.FaroException;
import java.nio.charset.StandardCharsets;

/** Text as UTF-8. */
public final class Utf8 {
    private Utf8() {}

    /**
     * The bytes of a text.
     *
     * @throws FaroException {@code invalid-argument} for an unpaired surrogate, which UTF-8 cannot represent
     */
    public static byte[] encode(String text) throws FaroException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (!new String(bytes, StandardCharsets.UTF_8).equals(text)) {
            throw FaroException.invalidArgument("text that UTF-8 can represent", "an unpaired surrogate");
        }
        return bytes;
    }
}
