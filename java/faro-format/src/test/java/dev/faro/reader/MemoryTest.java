package dev.faro.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.FaroException;
import dev.faro.testing.Outputs;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The memory that reading needs (LIM-2), in a JVM that has little. */
class MemoryTest {
    private static final int PARTITIONS = 1 << 22;
    private static final int REGIONS = 10;
    /** Each shared extent needs a bit for each partition in its region's message, half a megabyte. */
    private static final int SETS = 8;
    /** Enough for one message as it is read and as it is kept, but not for two thirds of all messages. */
    private static final String HEAP = "-Xmx24m";

    @TempDir
    Path folder;

    /** Reads one partition, in the JVM with little memory. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) throws FaroException {
            ReaderOptions options = ReaderOptions.DEFAULT.withCacheBytes(Long.parseLong(arguments[2]));
            int count = 0;
            try (Reader reader = Reader.openPair(Path.of(arguments[0]), Path.of(arguments[1]), options);
                    BlockCursor blocks = reader.partition(PARTITIONS - 1)) {
                while (blocks.next()) {
                    count++;
                }
            }
            System.out.println(count + " blocks");
        }
    }

    private void writeRegions(Path name) throws FaroException {
        try (Writer writer = Writer.create(name, new WriterOptions(PARTITIONS).statistics(false))) {
            for (int region = 0; region < REGIONS; region++) {
                for (int set = 0; set < SETS; set++) {
                    writer.multicast(new int[] {set, PARTITIONS - 1}, Outputs.bytes("x"));
                }
                writer.flush();
            }
            writer.finish();
        }
    }

    private String read(Path name, long cacheBytes) throws IOException, InterruptedException {
        Path output = folder.resolve("output");
        Process child = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), HEAP, "-XX:+UseSerialGC",
                "-cp", System.getProperty("java.class.path"), Child.class.getName(),
                Outputs.file(name, ".data").toString(), Outputs.file(name, ".index").toString(),
                Long.toString(cacheBytes))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertTrue(child.waitFor(1, TimeUnit.MINUTES));
        return Files.readString(output, StandardCharsets.UTF_8);
    }

    @Test
    void oneRegionMessageAtATime() throws Exception {
        Path name = folder.resolve("large");
        writeRegions(name);
        long message = (long) SETS * PARTITIONS / 8;
        assertTrue(Files.size(Outputs.file(name, ".index")) > REGIONS * message);
        for (long cache : List.of(0L, 2 * message)) {
            assertEquals(SETS * REGIONS + " blocks", read(name, cache).trim(), "a cache of " + cache);
        }
        // This shows that the test measures what it should: a cache for all messages does not fit.
        String refused = read(name, Long.MAX_VALUE);
        assertTrue(refused.contains("OutOfMemoryError"), refused);
    }
}
