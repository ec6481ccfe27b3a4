package dev.faro.fuzz;

import dev.faro.FaroException;
import java.nio.charset.StandardCharsets;

/** The results of a target, line by line (VERDICTS.md). */
final class Transcript {
    private final StringBuilder text = new StringBuilder();
    private String first = "ok";

    /** Adds a line of words. An error among them is printed as VERDICTS.md requires. */
    void line(Object... words) {
        for (int i = 0; i < words.length; i++) {
            if (i > 0) {
                text.append(' ');
            }
            if (words[i] instanceof FaroException e) {
                error(e);
            } else {
                text.append(words[i]);
            }
        }
        text.append('\n');
    }

    private void error(FaroException e) {
        String role = e.role() == null ? "-" : e.role().toString();
        String offset = e.offset() == FaroException.NO_OFFSET ? "-" : Long.toString(e.offset());
        text.append('!').append(e.code()).append(' ').append(role).append(' ').append(offset);
        note(e.code() + "@" + role + ":" + offset);
    }

    /** Keeps an error for the verdict, if it is the first. */
    void note(String error) {
        if (first.equals("ok")) {
            first = error;
        }
    }

    /** The first error, or {@code ok}, and the sum of the lines. */
    String verdict() {
        return first + " " + Sums.of(text.toString().getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
