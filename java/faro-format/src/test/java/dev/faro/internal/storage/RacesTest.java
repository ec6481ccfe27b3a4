package dev.faro.internal.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.follow.Follower;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingFileSystem;
import dev.faro.testing.Torment;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Many threads write, abort and read one name: what is visible is a complete output of one of them (PUB-3, PUB-4). */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RacesTest {
    private static final int ROUNDS = 200;
    private static final int WRITERS = 4;
    private static final int READERS = 2;
    /**
     * The errors that readers may meet: no output, a pair that is being replaced, a followed one that is still empty.
     */
    private static final Set<ErrorCode> MOMENTS =
            Set.of(ErrorCode.IO, ErrorCode.MISMATCHED_PAIR, ErrorCode.UNFINISHED, ErrorCode.TRUNCATED);

    private final AtomicInteger read = new AtomicInteger();

    @TempDir
    Path folder;

    /** The actions of one writer. */
    private record Part(UUID id, boolean overwrite, boolean follow, boolean abort, int regions) {
        static Part draw(Random random, boolean overwrites, boolean follows, boolean aborts) {
            return new Part(new UUID(random.nextLong(), random.nextLong()), overwrites && random.nextBoolean(),
                    follows && random.nextInt(3) == 0, aborts && random.nextInt(4) == 0, 1 + random.nextInt(4));
        }

        /**
         * Plays the part; returns whether the writer finished.
         *
         * @param end where all writers wait for each other before they end, or null
         */
        boolean play(Path name, Layout layout, Phaser end) throws FaroException {
            RecordingFileSystem system = new RecordingFileSystem();
            system.pause(new Random(id.getLeastSignificantBits()), 400_000);
            WriterOptions options = new WriterOptions(2).layout(layout).fileId(id).overwrite(overwrite).follow(follow);
            try (Writer writer = Writer.create(system.path(name), options)) {
                for (int i = 0; i < regions; i++) {
                    writer.write(i % 2, Outputs.bytes(id + " " + i));
                    writer.flush();
                }
                if (end != null) {
                    end.arriveAndAwaitAdvance();
                }
                if (!abort) {
                    writer.finish();
                }
                return !abort;
            } catch (FaroException e) {
                assertEquals(ErrorCode.IO, e.code(), e.getMessage());
                assertFalse(overwrite, () -> "a writer that overwrites is not refused: " + e.getMessage());
                return false;
            }
        }
    }

    /** The file_id of the complete output that is visible; null if there is none at the moment. */
    private UUID look(Path name, List<Part> parts, String where) throws FaroException {
        try (Reader reader = Reader.open(name, ReaderOptions.DEFAULT)) {
            UUID id = reader.header().fileId();
            Part part = parts.stream().filter(one -> one.id.equals(id)).findFirst().orElseThrow();
            assertFalse(part.abort, where);
            assertEquals(part.regions, reader.regionCount(), where);
            int blocks = 0;
            try (BlockCursor cursor = reader.all()) {
                while (cursor.next()) {
                    byte[] payload = new byte[cursor.plainSize() - 4];
                    cursor.framedPayload().get(4, payload);
                    assertEquals(id + " " + blocks, new String(payload, StandardCharsets.UTF_8), where);
                    blocks++;
                }
            }
            assertEquals(part.regions, blocks, where);
            read.incrementAndGet();
            return id;
        } catch (FaroException e) {
            boolean followed = parts.stream().anyMatch(part -> part.follow);
            assertTrue(MOMENTS.contains(e.code()) && (followed || e.code() != ErrorCode.TRUNCATED
                    && e.code() != ErrorCode.UNFINISHED), where + ": " + e.getMessage());
            return null;
        }
    }

    private static void follow(Path name, List<Part> parts, String where) {
        try (Follower follower = Follower.open(name, ReaderOptions.DEFAULT)) {
            boolean finished = follower.poll();
            UUID id = follower.header().fileId();
            Part part = parts.stream().filter(one -> one.id.equals(id)).findFirst().orElseThrow();
            assertTrue(follower.regionCount() <= part.regions, where);
            assertTrue(!finished || follower.regionCount() == part.regions, where);
        } catch (FaroException e) {
            assertTrue(MOMENTS.contains(e.code()), where + ": " + e.getMessage());
        }
    }

    @Test
    void oneWholeOutputIsVisible() throws Exception {
        int won = 0;
        for (int seed = 0; seed < ROUNDS; seed++) {
            Random random = new Random(seed);
            Layout layout = Layout.values()[seed % 2];
            // In some rounds each writer may overwrite, in others none; the same for following and aborting.
            boolean overwrites = random.nextBoolean();
            boolean follows = random.nextBoolean();
            boolean aborts = random.nextBoolean();
            List<Part> parts = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                parts.add(Part.draw(random, overwrites, follows, aborts));
            }
            won += round(Files.createDirectory(folder.resolve("round" + seed)).resolve("out"), layout, parts,
                    random.nextBoolean(), layout + ", seed " + seed + ": " + parts);
        }
        assertTrue(won > ROUNDS / 2 && read.get() > ROUNDS / 2, won + " finished, " + read + " read");
    }

    private int round(Path name, Layout layout, List<Part> parts, boolean together, String where) throws Exception {
        Set<UUID> finished = ConcurrentHashMap.newKeySet();
        AtomicInteger playing = new AtomicInteger(parts.size());
        Phaser end = together ? new Phaser(WRITERS) : null;
        CyclicBarrier start = new CyclicBarrier(WRITERS + READERS);
        List<Callable<Void>> tasks = new ArrayList<>();
        for (Part part : parts) {
            tasks.add(() -> {
                start.await();
                try {
                    if (part.play(name, layout, end)) {
                        finished.add(part.id);
                    }
                } finally {
                    if (end != null) {
                        end.arriveAndDeregister();
                    }
                    playing.decrementAndGet();
                }
                return null;
            });
        }
        for (int i = 0; i < READERS; i++) {
            boolean follows = i == 1;
            tasks.add(() -> {
                start.await();
                while (playing.get() > 0) {
                    if (follows) {
                        follow(name, parts, where);
                    } else {
                        look(name, parts, where);
                    }
                }
                return null;
            });
        }
        Torment.runAll(tasks);
        judge(name, layout, parts, finished, where);
        return finished.size();
    }

    private void judge(Path name, Layout layout, List<Part> parts, Set<UUID> finished, String where) throws Exception {
        UUID seen = look(name, parts, where);
        List<String> files = Outputs.files(Path.of("out"), layout).stream().map(Path::toString).toList();
        // A followed writer may have removed an older output, and then its own.
        boolean mayBeGone = finished.isEmpty() || parts.stream().anyMatch(part -> part.follow && part.abort);
        assertTrue(seen != null || mayBeGone, where);
        assertTrue(seen == null || finished.contains(seen), where);
        assertEquals(seen == null ? List.of() : files, Outputs.names(name.getParent()), where);
        if (parts.stream().noneMatch(Part::overwrite)) {
            assertTrue(finished.size() <= 1, where);
            if (parts.stream().noneMatch(part -> part.abort || part.follow)) {
                assertEquals(1, finished.size(), where);
            }
        }
    }
}
