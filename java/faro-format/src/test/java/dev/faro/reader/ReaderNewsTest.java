package dev.faro.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.FaroException;
import dev.faro.Limits;
import dev.faro.Listener;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.follow.Follower;
import dev.faro.scheduler.Scheduler;
import dev.faro.scheduler.SchedulerOptions;
import dev.faro.testing.Bringer;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingListener;
import dev.faro.testing.Scrambled;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a reader tells a listener and the flight recorder. */
class ReaderNewsTest {
    @TempDir
    Path folder;
    private Path name;
    private final RecordingListener log = new RecordingListener();
    private final ReaderOptions options = ReaderOptions.DEFAULT.withListener(log);

    @BeforeEach
    void write() throws FaroException {
        name = folder.resolve("n");
        Outputs.small(name, new WriterOptions(3));
    }

    private long size() throws Exception {
        return Files.size(Outputs.file(name, ".data")) + Files.size(Outputs.file(name, ".index"));
    }

    /** Damages the payload of partition 0's first block; returns its offset. */
    private void damageBlock() throws Exception {
        long offset;
        try (Reader reader = Outputs.open(name, Layout.PAIRED); BlockCursor blocks = reader.partition(0)) {
            blocks.next();
            offset = blocks.offset();
        }
        damage(".data", offset + 25);
    }

    private void damage(String extension, long offset) throws Exception {
        Path file = Outputs.file(name, extension);
        byte[] bytes = Files.readAllBytes(file);
        bytes[(int) offset] ^= 1;
        Files.write(file, bytes);
    }

    @Test
    void anOutputIsOpened() throws Exception {
        String opened = "opened n.data with 2 of " + size();
        Reader.open(name, options).close();
        assertEquals(List.of(opened), log.take());
        new Bringer(Outputs.files(name, Layout.PAIRED)).open(options).close();
        assertEquals(List.of(opened), log.take(), "no lack of bytes is a fault");
        try (Follower follower = Follower.open(name, options)) {
            assertEquals(List.of("opened n.data with 0 of " + size()), log.take());
            follower.poll();
        }
        try (Writer writer = Writer.create(folder.resolve("w"), new WriterOptions(2))) {
            writer.write(1, Outputs.bytes("x"));
            writer.finishAndOpen(options).reader().close();
        }
        assertTrue(log.lines.get(0).startsWith("opened w.data with 1 of "), log.lines.toString());
        assertEquals(1, log.take().size());
    }

    /** The end comes first: the output is published, even if it cannot be opened. */
    @Test
    void theEndComesBeforeTheOpening() throws Exception {
        for (long regions : new long[] {1, 0}) {
            try (Writer writer = Writer.create(folder.resolve("e" + regions), new WriterOptions(2).listener(log))) {
                writer.write(1, Outputs.bytes("x"));
                ReaderOptions limited = options.withLimits(Limits.DEFAULT.withMaxRegions(regions));
                if (regions > 0) {
                    writer.finishAndOpen(limited).reader().close();
                } else {
                    assertThrows(FaroException.class, () -> writer.finishAndOpen(limited));
                }
            }
            List<String> told = log.take().stream().map(line -> line.split(" ")[0]).toList();
            assertEquals(List.of("region", "finished", regions > 0 ? "opened" : "fault"), told);
        }
    }

    @Test
    void aFaultIsToldOnce() throws Exception {
        damageBlock();
        try (Reader reader = Reader.open(name, options);
                Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT)) {
            log.take();
            try (BlockCursor blocks = reader.partition(0)) {
                assertThrows(FaroException.class, blocks::next);
                assertThrows(FaroException.class, blocks::next);
            }
            assertEquals(List.of("fault checksum"), log.take());
            Scrambled.transcript(scheduler.partition(reader, 0));
            assertEquals(List.of("fault checksum"), log.take());
            assertThrows(FaroException.class, () -> Check.check(reader, CheckLevel.DECODE));
            assertEquals(List.of("fault checksum"), log.take());
            assertThrows(FaroException.class, () -> reader.partition(7));
            assertThrows(FaroException.class, () -> reader.region(7));
            assertEquals(List.of(), log.take(), "the caller's errors do not count as faults");
        }
    }

    @Test
    void aFaultOfTheIndex() throws Exception {
        long message;
        try (Reader reader = Outputs.open(name, Layout.PAIRED)) {
            message = reader.output().directory().messageOffset(1);
        }
        damage(".index", message + 30);
        try (Reader reader = Reader.open(name, options); Follower follower = Follower.open(name, options)) {
            log.take();
            assertThrows(FaroException.class, () -> reader.region(1));
            assertEquals(List.of("fault checksum"), log.take());
            assertThrows(FaroException.class, follower::poll);
            assertEquals(List.of("fault checksum"), log.take());
        }
        damage(".index", Files.size(Outputs.file(name, ".index")) - 1);
        assertThrows(FaroException.class, () -> Reader.open(name, options));
        assertEquals(1, log.take().size());
        Bringer bringer = new Bringer(Outputs.files(name, Layout.PAIRED));
        assertThrows(FaroException.class, () -> bringer.open(options));
        assertThrows(FaroException.class, () -> bringer.opening().want());
        assertEquals(1, log.take().size());
    }

    @Test
    void aListenerThatThrows() throws Exception {
        damageBlock();
        Reader reader = Reader.open(name, options);
        log.thrown = new IllegalStateException("mine");
        try (reader; BlockCursor blocks = reader.partition(0)) {
            IllegalStateException e = assertThrows(IllegalStateException.class, blocks::next);
            assertSame(log.thrown, e);
            assertTrue(e.getSuppressed()[0] instanceof FaroException);
            assertThrows(FaroException.class, blocks::next);
        }
        assertSame(log.thrown, assertThrows(IllegalStateException.class, () -> Reader.open(name, options)));
        assertSame(log.thrown, assertThrows(IllegalStateException.class, () -> Follower.open(name, options)));
        assertEquals(0, Outputs.descriptors(folder));
        Bringer bringer = new Bringer(Outputs.files(name, Layout.PAIRED));
        assertSame(log.thrown, assertThrows(IllegalStateException.class, () -> bringer.open(options)));
        assertEquals(List.of(), bringer.opening().want());
        assertEquals(2, bringer.opening().reader().regionCount());
    }

    @Test
    void theFlightRecorder() throws Exception {
        damageBlock();
        Path file = folder.resolve("events.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("faro.OutputOpened");
            recording.enable("faro.Fault");
            recording.start();
            try (Reader reader = Reader.open(name, ReaderOptions.DEFAULT); BlockCursor blocks = reader.partition(0)) {
                assertThrows(FaroException.class, blocks::next);
            }
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().startsWith("faro.")).toList();
        assertEquals(List.of("faro.OutputOpened", "faro.Fault"),
                events.stream().map(event -> event.getEventType().getName()).toList());
        assertTrue(events.get(0).getString("output").endsWith("n.data"));
        assertEquals(2, events.get(0).getInt("regions"));
        assertEquals(size(), events.get(0).getLong("bytes"));
        assertEquals("checksum", events.get(1).getString("code"));
    }
}
