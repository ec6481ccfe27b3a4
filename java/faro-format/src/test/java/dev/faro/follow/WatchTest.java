package dev.faro.follow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.reader.BlockCursor;
import dev.faro.testing.Outputs;
import dev.faro.testing.Script;
import dev.faro.writer.Writer;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A watch delivers what a reading of the whole output delivers (FOL-7). */
class WatchTest {
    @TempDir
    private Path folder;

    private static void take(BlockCursor blocks, int most, List<String> found) throws FaroException {
        for (int i = 0; i < most && blocks.next(); i++) {
            ByteBuffer payload = blocks.payload();
            found.add(blocks.region() + " " + blocks.offset() + " " + blocks.kind() + " " + payload.remaining() + " "
                    + payload.hashCode());
        }
    }

    @Test
    void watchesDeliverWhatAReadingOfTheWholeDelivers() throws Exception {
        for (long seed = 1; seed <= 40; seed++) {
            Script script = new Script(seed);
            script.options.follow(true);
            Random random = new Random(seed);
            Path name = folder.resolve("w" + seed);
            try (Writer writer = Writer.create(name, script.options);
                    Follower follower = Outputs.follow(name, script.layout)) {
                List<BlockCursor> watches = new ArrayList<>();
                List<List<String>> found = new ArrayList<>();
                for (int i = 0; i < script.partitions; i++) {
                    watches.add(follower.watch(script.first + i));
                    found.add(new ArrayList<>());
                }
                for (int step = 0; step < 8; step++) {
                    script.run(writer, 20);
                    writer.flush();
                    if (random.nextBoolean()) {
                        assertFalse(follower.poll());
                    }
                    for (int i = 0; i < script.partitions; i++) {
                        take(watches.get(i), random.nextInt(4) == 0 ? 100_000 : random.nextInt(3), found.get(i));
                    }
                }
                writer.finish();
                assertTrue(follower.poll());
                for (int i = 0; i < script.partitions; i++) {
                    take(watches.get(i), 100_000, found.get(i));
                    assertFalse(watches.get(i).next());
                    List<String> expected = new ArrayList<>();
                    try (BlockCursor whole = follower.partition(script.first + i)) {
                        take(whole, 100_000, expected);
                    }
                    assertEquals(expected, found.get(i), "seed " + seed + " partition " + (script.first + i));
                    watches.get(i).close();
                    assertFalse(watches.get(i).next());
                }
            }
        }
    }

    @Test
    void aWatchThatWasClosedStaysClosed() throws Exception {
        Script script = new Script(3);
        script.options.follow(true);
        Path name = folder.resolve("closed");
        try (Writer writer = Writer.create(name, script.options);
                Follower follower = Outputs.follow(name, script.layout)) {
            FaroException refused =
                    assertThrows(FaroException.class, () -> follower.watch(script.first + script.partitions));
            assertEquals(ErrorCode.INVALID_ARGUMENT, refused.code());
            BlockCursor watch = follower.watch(script.first);
            assertFalse(watch.next());
            watch.close();
            script.run(writer, 50);
            writer.finish();
            assertTrue(follower.poll());
            assertFalse(watch.next());
        }
    }
}
