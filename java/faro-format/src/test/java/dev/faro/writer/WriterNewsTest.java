package dev.faro.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.Listener;
import dev.faro.codec.Codec;
import dev.faro.reader.ReaderOptions;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingListener;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a writer tells: figures, a listener, the flight recorder. */
class WriterNewsTest {
    @TempDir
    Path folder;

    private void write(Writer writer) throws FaroException {
        for (int i = 0; i < 100; i++) {
            writer.write(i % 2, ByteBuffer.allocate(1000));
        }
        writer.writeEvent(0, BlockKind.EVENT, Outputs.bytes("event"));
        writer.flush();
        try (RegionWriter region = writer.region()) {
            region.block(0, BlockKind.DATA, Outputs.bytes("block"), 1);
            region.end();
        }
    }

    @Test
    void figures() throws Exception {
        for (boolean timed : new boolean[] {false, true}) {
            WriterOptions options = new WriterOptions(2).bufferSize(50_000).blockSize(2000).codec(Codec.LZ4)
                    .durability(Durability.COMMIT).timed(timed);
            try (Writer writer = Writer.create(folder.resolve("f" + timed), options)) {
                assertEquals(new WriterFigures(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), writer.figures());
                write(writer);
                Summary summary = writer.finish();
                WriterFigures figures = writer.figures();
                assertEquals(101, figures.records());
                assertEquals(summary.regions(), figures.regions());
                assertEquals(4, figures.regions());
                assertEquals(2, figures.spills());
                assertEquals(summary.blocks(), figures.blocks());
                // An event has no length before it.
                assertEquals(100 * 1004 + 5 + 5, figures.plainBytes());
                assertTrue(figures.storedBytes() < figures.plainBytes());
                long size = 0;
                for (Path file : summary.files()) {
                    size += Files.size(file);
                }
                assertEquals(size, figures.fileBytes());
                assertTrue(figures.regionNanos() > 0 && figures.writeNanos() > 0 && figures.syncNanos() > 0);
                assertEquals(timed, figures.compressNanos() > 0);
                assertEquals(timed, figures.checksumNanos() > 0);
                assertEquals(0, figures.memoryUsed() + figures.memoryRefusals());
            }
        }
    }

    /** The same calls have the same figures in all languages. */
    @Test
    void whatCountsAsASpillAndAsARecord() throws Exception {
        try (Writer writer = Writer.create(folder.resolve("s"), new WriterOptions(2).bufferSize(100))) {
            writer.write(0, ByteBuffer.allocate(60));
            assertEquals(List.of(0L, 0L, 0L), counts(writer));
            writer.write(0, ByteBuffer.allocate(60));
            assertEquals(List.of(1L, 1L, 1L), counts(writer));
            writer.write(1, ByteBuffer.allocate(200));
            assertEquals(List.of(3L, 2L, 3L), counts(writer));
            writer.broadcast(ByteBuffer.allocate(10));
            writer.write(1, ByteBuffer.allocate(10));
            assertEquals(List.of(4L, 2L, 4L), counts(writer));
            writer.writeEvent(1, 64, Outputs.bytes("event"));
            writer.flush();
            assertEquals(List.of(5L, 2L, 5L), counts(writer));
        }
    }

    private static List<Long> counts(Writer writer) {
        WriterFigures figures = writer.figures();
        return List.of(figures.regions(), figures.spills(), figures.records());
    }

    /** Blocks of the caller count when their region ends, and not when it is given up. */
    @Test
    void figuresOfRegionWriters() throws Exception {
        try (Writer writer = Writer.create(folder.resolve("r"), new WriterOptions(2))) {
            for (boolean ends : new boolean[] {false, true}) {
                try (RegionWriter region = writer.region()) {
                    region.block(0, BlockKind.DATA, ByteBuffer.allocate(30), 7);
                    region.block(1, BlockKind.EVENT, Outputs.bytes("event"), 9);
                    region.sharedAll();
                    region.block(BlockKind.DATA, ByteBuffer.allocate(40), 5);
                    assertEquals(0, writer.figures().records() + writer.figures().plainBytes());
                    if (ends) {
                        region.end();
                    }
                }
                WriterFigures figures = writer.figures();
                assertEquals(ends ? 12 : 0, figures.records());
                assertEquals(ends ? 75 : 0, figures.plainBytes());
                assertEquals(ends, figures.regionNanos() > 0);
            }
            writer.finish();
        }
    }

    @Test
    void aListenerIsTold() throws Exception {
        RecordingListener log = new RecordingListener();
        try (Writer writer = Writer.create(folder.resolve("l"), new WriterOptions(2).listener(log))) {
            write(writer);
            writer.write(0, Outputs.bytes("last"));
            writer.finishAndOpen(ReaderOptions.DEFAULT).reader().close();
        }
        assertEquals(4, log.lines.size(), log.lines.toString());
        assertTrue(log.lines.get(0).startsWith("region 0 of l.data, "));
        assertTrue(log.lines.get(2).startsWith("region 2 of l.data, "));
        assertEquals("finished l.data with 3", log.lines.get(3));
    }

    @Test
    void aFault() throws Exception {
        RecordingListener log = new RecordingListener();
        Path name = folder.resolve("taken");
        try (Writer writer = Writer.create(name, new WriterOptions(2).listener(log))) {
            Files.createFile(Outputs.file(name, ".data"));
            assertThrows(FaroException.class, writer::finish);
            assertThrows(FaroException.class, writer::finish);
        }
        assertEquals(List.of("fault io"), log.lines, "once");
    }

    /** The region that {@code finish} commits before it fails is news, too. */
    @Test
    void aRegionBeforeAFault() throws Exception {
        RecordingListener log = new RecordingListener();
        Path name = folder.resolve("taken");
        try (Writer writer = Writer.create(name, new WriterOptions(2).listener(log))) {
            writer.write(0, Outputs.bytes("one"));
            Files.createFile(Outputs.file(name, ".data"));
            assertThrows(FaroException.class, writer::finish);
        }
        assertEquals(2, log.lines.size(), log.lines.toString());
        assertTrue(log.lines.get(0).startsWith("region 0 of taken.data, "));
        assertEquals("fault io", log.lines.get(1));
    }

    /** A dictionary ends a region, and its call tells of it. */
    @Test
    void aRegionBeforeADictionary() throws Exception {
        RecordingListener log = new RecordingListener();
        WriterOptions options = new WriterOptions(2).codec(Codec.ZSTD).dictionaries(true).listener(log);
        try (Writer writer = Writer.create(folder.resolve("d"), options)) {
            writer.write(0, Outputs.bytes("one"));
            byte[] dictionary = new byte[64];
            ByteBuffer.wrap(dictionary).order(ByteOrder.LITTLE_ENDIAN).putInt(0xEC30A437);
            writer.dictionary(dictionary);
            assertEquals(1, log.take().size());
            writer.finish();
        }
        assertEquals(List.of("finished d.data with 1"), log.lines);
    }

    /** What a listener throws leaves the call, whose work is done. */
    @Test
    void aListenerThatThrows() throws Exception {
        RecordingListener log = new RecordingListener();
        log.thrown = new IllegalStateException("mine");
        Path name = folder.resolve("t");
        try (Writer writer = Writer.create(name, new WriterOptions(2).listener(log))) {
            writer.write(0, Outputs.bytes("one"));
            assertSame(log.thrown, assertThrows(IllegalStateException.class, writer::flush));
            writer.write(1, Outputs.bytes("two"));
            assertSame(log.thrown, assertThrows(IllegalStateException.class,
                    () -> writer.finishAndOpen(ReaderOptions.DEFAULT)));
        }
        assertEquals("finished t.data with 2", log.lines.get(log.lines.size() - 1));
        assertEquals(2, Outputs.check(name, Layout.PAIRED).regions());
        assertEquals(0, Outputs.descriptors(folder));
    }

    @Test
    void theFlightRecorder() throws Exception {
        Path file = folder.resolve("events.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("faro.RegionWritten");
            recording.enable("faro.OutputFinished");
            recording.enable("faro.Fault");
            recording.start();
            try (Writer writer = Writer.create(folder.resolve("j"), new WriterOptions(2))) {
                write(writer);
                writer.finish();
            }
            aFault();
            recording.stop();
            recording.dump(file);
        }
        List<String> names = new ArrayList<>();
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            names.add(event.getEventType().getName());
            if (event.getEventType().getName().equals("faro.OutputFinished")) {
                assertTrue(event.getString("output").endsWith("j.data"));
                assertEquals(2, event.getInt("regions"));
            }
        }
        assertEquals(List.of("faro.RegionWritten", "faro.RegionWritten", "faro.OutputFinished", "faro.Fault"),
                names.stream().filter(event -> event.startsWith("faro.")).toList());
    }
}
