package dev.faro.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingFileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** However a writer ends without finish or inside it, its output does not open (WRT-4, WRT-6, WRT-10). */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NothingUnfinishedTest {
    private static final UUID ID = new UUID(0x0102030400000000L, 7);
    private static final UUID OLDER = new UUID(0x0908070600000000L, 7);

    private final RecordingFileSystem system = new RecordingFileSystem();

    @TempDir
    Path folder;

    private record Way(Layout layout, Durability durability, boolean follow, boolean overwrite) {
        WriterOptions options() {
            return new WriterOptions(2).layout(layout).durability(durability).follow(follow).overwrite(overwrite)
                    .fileId(ID);
        }
    }

    private static List<Way> ways() {
        List<Way> ways = new ArrayList<>();
        for (Layout layout : Layout.values()) {
            for (Durability durability : Durability.values()) {
                for (boolean follow : new boolean[] {false, true}) {
                    for (boolean overwrite : new boolean[] {false, true}) {
                        ways.add(new Way(layout, durability, follow, overwrite));
                    }
                }
            }
        }
        return ways;
    }

    private Path name() {
        return folder.resolve("out");
    }

    private void older(Way way) throws FaroException {
        if (way.overwrite) {
            try (Writer writer = Writer.create(name(), new WriterOptions(2).layout(way.layout).fileId(OLDER))) {
                writer.write(0, Outputs.bytes("older"));
                writer.finish();
            }
        }
    }

    /** The file_id of the output that opens, or null if none does. */
    private UUID visible(String where) throws FaroException {
        try (Reader reader = Reader.open(name(), ReaderOptions.DEFAULT)) {
            Outputs.readAll(reader);
            return reader.header().fileId();
        } catch (FaroException e) {
            assertTrue(e.code() == ErrorCode.IO || e.code() == ErrorCode.UNFINISHED, where + ": " + e.getMessage());
            return null;
        }
    }

    private void clear() throws Exception {
        for (String file : Outputs.names(folder)) {
            Files.delete(folder.resolve(file));
        }
    }

    private static void write(Writer writer) throws FaroException {
        writer.write(0, Outputs.bytes("one"));
        writer.flush();
        writer.write(1, Outputs.bytes("two"));
        writer.flush();
        writer.write(1, Outputs.bytes("three"));
        writer.finish();
    }

    /** An interrupt right before every write, sync, link and rename in turn. */
    @Test
    void anInterruptAtAnyStep() throws Exception {
        for (Way way : ways()) {
            int failures = 0;
            for (int step = 0; interruptedAt(step, way); step++) {
                failures++;
            }
            assertTrue(failures >= 3, way + ": " + failures + " steps");
        }
    }

    /** Returns false if there is no such step. */
    private boolean interruptedAt(int step, Way way) throws Exception {
        String where = way + ", step " + step;
        older(way);
        boolean finished = false;
        try (Writer writer = Writer.create(system.path(name()), way.options())) {
            system.interruptBefore(step);
            try {
                write(writer);
                finished = true;
            } catch (FaroException e) {
                assertEquals(ErrorCode.IO, e.code(), where);
            }
            boolean reached = system.calls().size() > step;
            assertEquals(reached, Thread.interrupted(), where);
            system.refuse(-1);
            if (finished) {
                assertEquals(ID, visible(where));
            } else {
                assertNotEquals(ID, visible(where), where);
                FaroException again = assertThrows(FaroException.class, writer::finish);
                assertEquals(ErrorCode.IO, again.code());
            }
            if (!reached) {
                assertTrue(finished, where);
                clear();
                return false;
            }
        }
        if (!finished) {
            expectNothingNew(way, where);
        }
        clear();
        return true;
    }

    /** After abort, an older output is complete or gone. */
    private void expectNothingNew(Way way, String where) throws Exception {
        List<String> names = Outputs.names(folder);
        if (!names.isEmpty()) {
            assertEquals(Outputs.files(Path.of("out"), way.layout).stream().map(Path::toString).toList(), names, where);
            assertEquals(OLDER, visible(where), where);
        }
    }

    /** A thread is interrupted when it aborts: the abort succeeds, and the thread stays interrupted. */
    @Test
    void anInterruptedThreadAborts() throws Exception {
        for (Way way : ways()) {
            older(way);
            Writer writer = Writer.create(name(), way.options());
            writer.write(0, Outputs.bytes("one"));
            writer.flush();
            Thread.currentThread().interrupt();
            writer.abort();
            assertTrue(Thread.interrupted());
            expectNothingNew(way, way.toString());
            clear();
        }
    }

    @Test
    void closedWithoutFinish() throws Exception {
        for (Way way : ways()) {
            for (String end : new String[] {"close", "abort", "exception", "open region", "lost region"}) {
                older(way);
                try (Writer writer = Writer.create(name(), way.options())) {
                    writer.write(0, Outputs.bytes("one"));
                    writer.flush();
                    writer.write(0, Outputs.bytes("two"));
                    switch (end) {
                        case "abort" -> writer.abort();
                        case "exception" -> throw new IllegalStateException("the caller's");
                        case "open region" -> {
                            try (RegionWriter region = writer.region()) {
                                region.block(0, 0, Outputs.bytes("1234three"), 1);
                                writer.abort();
                            }
                        }
                        case "lost region" -> {
                            writer.region().block(0, 0, Outputs.bytes("1234three"), 1);
                            assertEquals(ErrorCode.INVALID_ARGUMENT,
                                    assertThrows(FaroException.class, writer::finish).code());
                        }
                        default -> { }
                    }
                    assertNotEquals(ID, visible(way + end));
                } catch (IllegalStateException e) {
                    assertEquals("exception", end);
                }
                expectNothingNew(way, way + end);
                clear();
            }
        }
    }

    /** Never closed: a followed writer's files have their final names, but do not open. */
    @Test
    void neverClosed() throws Exception {
        for (Way way : ways()) {
            older(way);
            forget(way);
            for (int i = 0; i < 3; i++) {
                System.gc();
                assertNotEquals(ID, visible(way.toString()));
            }
            assertFalse(Outputs.names(folder).contains("out.faro-lock"));
            clear();
        }
    }

    private void forget(Way way) throws FaroException {
        Writer writer = Writer.create(name(), way.options());
        writer.write(0, Outputs.bytes("one"));
        writer.flush();
        writer.region().block(0, 0, Outputs.bytes("1234three"), 1);
    }
}
