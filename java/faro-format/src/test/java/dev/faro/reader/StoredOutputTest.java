package dev.faro.reader;

import static org.junit.jupiter.api.Assertions.assertIterableEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.storage.StoredOutput;
import dev.faro.testing.Outputs;
import dev.faro.testing.Scrambled;
import dev.faro.testing.Script;
import dev.faro.testing.ShortReads;
import dev.faro.testing.Transcripts;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Random outputs, whole and damaged, read from local files and from a storage that returns short reads. */
@Timeout(120)
class StoredOutputTest {
    @TempDir
    Path folder;

    /** Writes an output of any framing, and returns its files. */
    private static List<Path> write(Path name, long seed, Random random) throws Exception {
        if (random.nextBoolean()) {
            Scrambled output = Scrambled.write(name, random, 1 + random.nextInt(3000));
            return Outputs.files(output.name, output.layout);
        }
        Script script = new Script(seed);
        try (Writer writer = Writer.create(name, script.options.overwrite(true))) {
            script.run(writer, 100);
            writer.finish();
        }
        return Outputs.files(name, script.layout);
    }

    /** Changes bytes, cuts a file, or makes it longer. */
    private static void damage(List<Path> files, Random random) throws IOException {
        Path file = files.get(random.nextInt(files.size()));
        byte[] bytes = Files.readAllBytes(file);
        switch (random.nextInt(6)) {
            case 0 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
            case 1 -> bytes = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(100));
            case 2 -> bytes[random.nextInt(64)] ^= (byte) (1 << random.nextInt(8));
            default -> {
                for (int i = random.nextInt(3); i >= 0; i--) {
                    bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
                }
            }
        }
        Files.write(file, bytes);
    }

    @Test
    void theSameBlocksAndFaultsAsFromLocalFiles() throws Exception {
        int faults = 0;
        int refused = 0;
        long shortened = 0;
        for (long seed = 0; seed < 300; seed++) {
            Random random = new Random(seed);
            List<Path> files = write(folder.resolve("random"), seed, random);
            boolean damaged = random.nextInt(3) > 0;
            if (damaged) {
                damage(files, random);
            }
            ReaderOptions options = ReaderOptions.DEFAULT.withCacheBytes(random.nextBoolean() ? 0 : 1 << 20)
                    .withLookup(Lookup.values()[random.nextInt(Lookup.values().length)]);
            List<ShortReads> stored = new ArrayList<>();
            for (Path file : files) {
                stored.add(ShortReads.of(file, seed));
            }
            StoredOutput output = files.size() == 1 ? StoredOutput.single(stored.get(0))
                    : StoredOutput.paired(stored.get(0), stored.get(1));
            List<String> expected = Transcripts.of(() -> files.size() == 1 ? Reader.openSingle(files.get(0), options)
                    : Reader.openPair(files.get(0), files.get(1), options));
            assertIterableEquals(expected, Transcripts.of(() -> Reader.openStored(output, options)), "seed " + seed);
            for (ShortReads each : stored) {
                assertTrue(each.isClosed(), "seed " + seed);
                shortened += each.shortened();
            }
            boolean fault = expected.stream().anyMatch(text -> text.contains("expected"));
            assertTrue(damaged || !fault, "seed " + seed);
            faults += fault ? 1 : 0;
            refused += expected.size() == 1 ? 1 : 0;
        }
        assertTrue(faults > 100, faults + " with faults");
        assertTrue(refused > 20 && refused < faults - 20, refused + " of these cannot be opened");
        assertTrue(shortened > 10_000, shortened + " short reads");
    }
}
