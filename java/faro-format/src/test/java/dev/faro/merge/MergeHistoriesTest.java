package dev.faro.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.Framing;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.follow.Follower;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of merges against a model of a few lines: after each, the file has exactly what the model says, each
 * block once, and nothing that was reported is lost (MRG). FARO_HISTORIES says how many are drawn, FARO_SEED which one
 * is the first.
 */
class MergeHistoriesTest {
    private static final int PARTITIONS = 3;
    private static final int PRODUCERS = 4;
    private static final long GENERATION = 9;

    @TempDir
    private Path folder;
    private final Map<Expected, Path> names = new HashMap<>();
    /** What each partition reads from an output. */
    private final Map<Expected, List<List<String>>> contents = new HashMap<>();

    private record Key(long producer, int partition) {}

    private record Held(long blocks, boolean last) {}

    /** The numbers of a partition's blocks in a fragment. */
    private record Numbers(long from, long to) {}

    private record Fragment(Expected of, byte[] bytes, boolean last, Map<Integer, Numbers> numbers) {}

    /** What the file must have. */
    private record Model(Map<Long, Long> attempts, Map<Key, Held> held) {
        Model() {
            this(new HashMap<>(), new HashMap<>());
        }

        Model copy() {
            return new Model(new HashMap<>(attempts), new HashMap<>(held));
        }

        /** What must come of a whole fragment. */
        Outcome push(Fragment fragment) {
            long producer = fragment.of.producer();
            Long attempt = attempts.get(producer);
            if (attempt != null && attempt != fragment.of.attempt()) {
                return Outcome.OTHER_ATTEMPT;
            }
            Map<Key, Held> fresh = new HashMap<>();
            for (Map.Entry<Integer, Numbers> one : fragment.numbers.entrySet()) {
                Key key = new Key(producer, one.getKey());
                long count = held.getOrDefault(key, new Held(0, false)).blocks;
                if (one.getValue().from > count) {
                    return Outcome.GAP;
                }
                if (one.getValue().to > count) {
                    fresh.put(key, new Held(one.getValue().to, fragment.last));
                }
            }
            if (fresh.isEmpty()) {
                return Outcome.DUPLICATE;
            }
            attempts.put(producer, fragment.of.attempt());
            held.putAll(fresh);
            return Outcome.MERGED;
        }

        boolean hasAll(Model other) {
            return other.held.entrySet().stream().allMatch(
                    one -> held.getOrDefault(one.getKey(), new Held(0, false)).blocks >= one.getValue().blocks);
        }
    }

    private static long number(String variable, long otherwise) {
        String text = System.getenv(variable);
        return text == null ? otherwise : Long.parseLong(text);
    }

    private static String text(ByteBuffer payload) {
        return StandardCharsets.UTF_8.decode(payload.duplicate()).toString();
    }

    private void makeOutputs(Random random) throws Exception {
        for (long producer = 0; producer < PRODUCERS; producer++) {
            for (long attempt = 0; attempt < 2; attempt++) {
                Expected of = new Expected(producer, attempt);
                Path name = folder.resolve("map-" + producer + "-" + attempt);
                Files.deleteIfExists(Path.of(name + ".data"));
                Files.deleteIfExists(Path.of(name + ".index"));
                WriterOptions options = new WriterOptions(PARTITIONS).framing(Framing.OPAQUE).blockSize(16)
                        .producer(producer).attempt(attempt);
                try (Writer writer = Writer.create(name, options)) {
                    int count = random.nextInt(14);
                    for (int i = 0; i < count; i++) {
                        String record = producer + "." + attempt + "." + i + "-".repeat(random.nextInt(40));
                        ByteBuffer bytes = ByteBuffer.wrap(record.getBytes(StandardCharsets.UTF_8));
                        int what = random.nextInt(8);
                        if (what == 0) {
                            writer.broadcast(bytes);
                        } else if (what == 1) {
                            writer.flush();
                        } else {
                            writer.write(what % PARTITIONS, bytes);
                        }
                    }
                    writer.finish();
                }
                names.put(of, name);
                try (Reader reader = open(of)) {
                    List<List<String>> partitions = new ArrayList<>();
                    for (int partition = 0; partition < PARTITIONS; partition++) {
                        partitions.add(read(reader, partition));
                    }
                    contents.put(of, partitions);
                }
            }
        }
    }

    private static List<String> read(Reader reader, int partition) throws FaroException {
        List<String> found = new ArrayList<>();
        try (BlockCursor blocks = reader.partition(partition)) {
            while (blocks.next()) {
                found.add(text(blocks.payload()));
            }
        }
        return found;
    }

    private Reader open(Expected of) throws FaroException {
        return Reader.open(names.get(of), ReaderOptions.DEFAULT);
    }

    /** A random fragment, or null if there are no such blocks. */
    private Fragment fragment(Random random) throws FaroException {
        Expected of = new Expected(random.nextInt(PRODUCERS), random.nextInt(4) == 0 ? 1 : 0);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int from = random.nextInt(PARTITIONS);
        Map<Integer, Numbers> numbers = new TreeMap<>();
        FragmentSummary summary;
        try (Reader reader = open(of)) {
            if (random.nextBoolean()) {
                int to = from + 1 + random.nextInt(PARTITIONS - from);
                for (int partition = from; partition < to; partition++) {
                    numbers.put(partition, new Numbers(0, contents.get(of).get(partition).size()));
                }
                summary = Fragments.write(reader, from, to, bytes);
            } else {
                int count = contents.get(of).get(from).size();
                int low = random.nextInt(count + 1);
                int high = low + random.nextInt(count + 2 - low);
                numbers.put(from, new Numbers(low, Math.min(high, count)));
                summary = Fragments.writePart(reader, from, low, high, bytes);
            }
        }
        numbers.values().removeIf(range -> range.from == range.to);
        return summary.blocks() == 0 ? null : new Fragment(of, bytes.toByteArray(), summary.last(), numbers);
    }

    private static MergeOptions options(Random random) {
        long chunk = new long[] {1, 60, 200, 2 << 20}[random.nextInt(4)];
        return new MergeOptions(PARTITIONS).framing(Framing.OPAQUE).generation(GENERATION).chunkSize(chunk);
    }

    private static Outcome push(Merge merge, long producer, byte[] bytes, Random random) throws FaroException {
        try (Push push = merge.begin(producer, GENERATION).push()) {
            int at = 0;
            while (at < bytes.length) {
                int length = 1 + random.nextInt(bytes.length - at);
                Outcome refused = push.write(ByteBuffer.wrap(bytes, at, length));
                if (refused != null) {
                    return refused;
                }
                at += length;
            }
            return push.commit();
        }
    }

    /** What the committed regions of a file have. */
    private static Model committed(Path name) throws FaroException {
        Model model = new Model();
        try (Follower follower = Follower.open(name, ReaderOptions.DEFAULT)) {
            follower.poll();
            for (int partition = 0; partition < PARTITIONS; partition++) {
                for (Have have : Provenance.have(follower, partition)) {
                    model.attempts.put(have.producer(), have.attempt());
                    model.held.put(new Key(have.producer(), partition), new Held(have.blocks(), have.complete()));
                }
            }
        }
        return model;
    }

    /** A history. Returns how many pushes were merged. */
    private int history(long seed) throws Exception {
        Random random = new Random(seed);
        Path name = folder.resolve("merged-" + seed);
        Merge merge = Merge.create(name, options(random));
        Model model = new Model();
        Model safe = new Model();
        int merged = 0;
        int steps = random.nextInt(25);
        for (int step = 0; step < steps; step++) {
            int what = random.nextInt(20);
            if (what == 0) {
                merge.flush();
                safe = model.copy();
                assertEquals(model, committed(name), "seed " + seed);
            } else if (what == 1) {
                merge.close();
                if (random.nextBoolean()) {
                    tear(name, random);
                }
                merge = Merge.resume(name, options(random));
                Model found = committed(name);
                assertTrue(found.hasAll(safe) && model.hasAll(found), "seed " + seed + ": " + found);
                model = found.copy();
                safe = found;
            } else {
                Fragment fragment = fragment(random);
                if (fragment != null) {
                    merged += attempt(merge, model, fragment, random, seed) == Outcome.MERGED ? 1 : 0;
                }
            }
        }
        try (Push late = merge.begin(0, GENERATION).push()) {
            merge.finish();
            assertEquals(Outcome.LATE, late.write(ByteBuffer.wrap(new byte[] {1})));
        }
        assertEquals(model, committed(name), "seed " + seed);
        verify(name, model, seed);
        Files.delete(Path.of(name + ".data"));
        Files.delete(Path.of(name + ".index"));
        return merged;
    }

    /** A push, right or damaged or cut, after another one that was given up. */
    private static Outcome attempt(Merge merge, Model model, Fragment fragment, Random random, long seed)
            throws FaroException {
        byte[] bytes = fragment.bytes.clone();
        if (random.nextInt(4) == 0) {
            try (Push other = merge.begin(77, GENERATION).push()) {
                assertNull(other.write(ByteBuffer.wrap(bytes, 0, 40)));
            }
        }
        int harm = random.nextInt(8);
        if (harm == 0) {
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        } else if (harm == 1) {
            bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
        }
        if (harm > 1) {
            Outcome expected = model.push(fragment);
            assertEquals(expected, push(merge, fragment.of.producer(), bytes, random), "seed " + seed);
            return expected;
        }
        try {
            Outcome found = push(merge, fragment.of.producer(), bytes, random);
            // What comes before the damage was refused for another reason.
            assertTrue(found == Outcome.GAP || found == Outcome.OTHER_ATTEMPT, "seed " + seed + ": " + found);
            return found;
        } catch (FaroException e) {
            assertEquals(FileRole.FRAGMENT, e.role(), "seed " + seed + ": " + e);
            assertTrue(harm == 0 || e.code() == ErrorCode.TRUNCATED && e.offset() == bytes.length, e.toString());
            return null;
        }
    }

    /** Adds bytes to the ends of the files, as a writer that was killed may leave them. */
    private static void tear(Path name, Random random) throws Exception {
        for (String ending : List.of(".data", ".index")) {
            Path path = Path.of(name + ending);
            byte[] bytes = Files.readAllBytes(path);
            byte[] more = new byte[random.nextInt(100)];
            if (random.nextBoolean() && ending.equals(".data")) {
                Arrays.fill(more, (byte) 7);
            }
            Files.write(path, bytes);
            Files.write(path, more, java.nio.file.StandardOpenOption.APPEND);
        }
    }

    /** The file reads back as the model says, alone and with originals. */
    private void verify(Path name, Model model, long seed) throws FaroException {
        List<Expected> expected = new ArrayList<>();
        for (long producer = 0; producer < PRODUCERS; producer++) {
            expected.add(new Expected(producer, model.attempts.getOrDefault(producer, 0L)));
        }
        try (Reader reader = Reader.open(name, ReaderOptions.DEFAULT)) {
            Check.check(reader, CheckLevel.DECODE);
            for (int partition = 0; partition < PARTITIONS; partition++) {
                List<String> wanted = new ArrayList<>();
                for (PlacedRun placed : Provenance.runs(reader, partition)) {
                    Expected of = new Expected(placed.run().producer(), placed.run().attempt());
                    int from = (int) placed.run().firstBlock();
                    wanted.addAll(contents.get(of).get(partition).subList(from, from + (int) placed.run().blocks()));
                }
                assertEquals(wanted, read(reader, partition), "seed " + seed);
                for (Missing missing : Provenance.missing(reader, partition, expected)) {
                    Held held = model.held.getOrDefault(new Key(missing.producer(), partition), new Held(0, false));
                    assertEquals(new Held(missing.from(), false), held, "seed " + seed);
                }
                Map<Long, List<String>> found = new HashMap<>();
                try (MergedCursor blocks = MergedCursor.open(reader, partition, expected, this::open)) {
                    while (blocks.next()) {
                        List<String> of = found.computeIfAbsent(blocks.producer(), none -> new ArrayList<>());
                        assertEquals(of.size(), blocks.number(), "seed " + seed);
                        of.add(text(blocks.payload()));
                    }
                    assertEquals(List.of(), blocks.faults());
                }
                for (Expected of : expected) {
                    assertEquals(contents.get(of).get(partition), found.getOrDefault(of.producer(), List.of()),
                            "seed " + seed);
                }
            }
        }
    }

    @Test
    void historiesAgreeWithAModel() throws Exception {
        long count = number("FARO_HISTORIES", 200);
        long first = number("FARO_SEED", 1);
        long merged = 0;
        for (long seed = first; seed < first + count; seed++) {
            if ((seed - first) % 200 == 0) {
                makeOutputs(new Random(seed));
            }
            merged += history(seed);
        }
        // So many that the histories are about something.
        assertTrue(merged > count, merged + " pushes were merged");
    }
}
