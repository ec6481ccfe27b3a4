package dev.faro.reader;

import static org.junit.jupiter.api.Assertions.assertIterableEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.FaroException;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.scheduler.Consumer;
import dev.faro.scheduler.Scheduler;
import dev.faro.scheduler.SchedulerOptions;
import dev.faro.storage.StoredOutput;
import dev.faro.testing.Outputs;
import dev.faro.testing.Scrambled;
import dev.faro.testing.Script;
import dev.faro.testing.ShortReads;
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

    private interface Opening {
        Reader open() throws FaroException;
    }

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

    /** Everything that can be read from an output in any way, with the faults. */
    private static List<String> transcript(Opening opening) {
        List<String> all = new ArrayList<>();
        try (Reader reader = opening.open();
                Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT)) {
            all.add(reader.header() + " " + reader.regionCount() + " " + reader.footer().properties());
            int first = reader.header().firstPartition();
            int end = first + reader.header().partitionCount();
            List<Consumer> consumers = new ArrayList<>();
            for (int partition = first; partition < end; partition++) {
                consumers.add(scheduler.partition(reader, partition));
            }
            for (int partition = first; partition < end; partition++) {
                all.add(partition + ": " + storedBytes(reader, partition));
                all.addAll(Scrambled.transcript(reader.partition(partition)));
                all.addAll(transcript(consumers.get(partition - first)));
            }
            all.addAll(Scrambled.transcript(reader.range(first, end)));
            all.addAll(Scrambled.transcript(reader.all()));
            all.addAll(Scrambled.transcript(reader.byPartition(first, end)));
            for (CheckLevel level : CheckLevel.values()) {
                all.add(check(reader, level));
            }
        } catch (FaroException e) {
            all.add(e.getMessage());
        }
        return all;
    }

    private static String storedBytes(Reader reader, int partition) {
        try {
            return Long.toString(reader.storedBytes(partition));
        } catch (FaroException e) {
            return e.getMessage();
        }
    }

    private static String check(Reader reader, CheckLevel level) {
        try {
            return Check.check(reader, level).toString();
        } catch (FaroException e) {
            return e.getMessage();
        }
    }

    private static List<String> transcript(Consumer consumer) {
        List<String> transcript = new ArrayList<>();
        try (consumer) {
            while (consumer.next()) {
                transcript.add(Scrambled.describe(consumer.block()));
            }
        } catch (FaroException e) {
            transcript.add(e.getMessage());
        }
        return transcript;
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
            List<String> expected = transcript(() -> files.size() == 1 ? Reader.openSingle(files.get(0), options)
                    : Reader.openPair(files.get(0), files.get(1), options));
            assertIterableEquals(expected, transcript(() -> Reader.openStored(output, options)), "seed " + seed);
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
