package dev.faro.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The order of the subjects, and which of their times count. */
class RoundsTest {
    @TempDir
    private Path folder;
    private final StringBuilder order = new StringBuilder();

    /** Needs fewer nanoseconds each time, until it starts again. */
    private final class Fake implements WriteSubject {
        private final String name;

        Fake(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public long plainBytes() {
            return 1;
        }

        @Override
        public Outcome write() {
            order.append(name);
            return new Outcome((1000 - order.length()) % 4 * 1_000_000_000L, 1, 0, 1);
        }

        @Override
        public void clear() {}
    }

    private List<String> seconds(boolean writes) throws Exception {
        Path out = Files.createTempFile(folder, "lines", "");
        Rounds rounds = new Rounds(List.of(new Fake("a"), new Fake("b")), writes);
        rounds.run(false);
        rounds.run(true);
        rounds.run(true);
        rounds.report("write", JsonNodeFactory.instance.objectNode(), new Results(out));
        List<String> found = new ArrayList<>();
        for (String line : Files.readAllLines(out)) {
            found.add(Results.parse(line).get("seconds").toString());
        }
        return found;
    }

    @Test
    void subjectsTakeTurnsAfterARoundThatIsNotMeasured() throws Exception {
        assertEquals(List.of("[0.0,3.0]", "[1.0,2.0]"), seconds(false));
        assertEquals("abbaab", order.toString());
    }

    @Test
    void theFastestOfThreeWritesCounts() throws Exception {
        // They take 3, 2, then b 1, 0, 3, a 2, 1, 0; a 3, 2, 1, b 0, 3, 2.
        assertEquals(List.of("[0.0,1.0]", "[0.0,0.0]"), seconds(true));
        assertEquals("abbbbaaaaaabbb", order.toString());
    }
}
