package dev.faro.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.codec.Codec;
import dev.faro.index.Region;
import dev.faro.index.Statistics;
import dev.faro.index.Streams;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.testing.Outputs;
import dev.faro.testing.Script;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A writer's summary says what a reader that opens the output by name says. */
class SummaryTest {
    @TempDir
    Path folder;

    /** Compares a summary with the files that it names, and with what a reader of them reports. */
    static void compare(Summary summary, Path name, String what) throws Exception {
        assertEquals(Outputs.files(name, summary.layout()).toString(), summary.files().toString(), what);
        assertThrows(UnsupportedOperationException.class, () -> summary.files().clear());
        try (Reader reader = Outputs.open(name, summary.layout())) {
            assertEquals(reader.header().fileId(), summary.fileId(), what);
            assertEquals(reader.regionCount(), summary.regions(), what);
            assertEquals(Outputs.check(name, summary.layout()).blocks(), summary.blocks(), what);
            long blocks = 0;
            for (int i = 0; i < reader.regionCount(); i++) {
                Region region = reader.region(i);
                blocks += region.dataEnd() - region.dataOffset();
            }
            boolean single = summary.layout() == Layout.SINGLE;
            long first = Files.size(summary.files().get(0));
            assertEquals(single ? blocks : first, summary.dataBytes(), what);
            assertEquals(single ? first - blocks : Files.size(summary.files().get(1)), summary.indexBytes(), what);
            Statistics found = reader.footer().statistics();
            if (found == null) {
                assertNull(summary.statistics(), what);
                return;
            }
            assertEquals(List.of(found.recordsToAll(), found.plainToAll(), found.storedToAll()),
                    List.of(summary.statistics().recordsToAll(), summary.statistics().plainToAll(),
                            summary.statistics().storedToAll()), what);
            int begin = reader.header().firstPartition();
            for (int p = begin; p < begin + reader.header().partitionCount(); p++) {
                assertEquals(List.of(found.records(p), found.plain(p), found.stored(p)),
                        List.of(summary.statistics().records(p), summary.statistics().plain(p),
                                summary.statistics().stored(p)), what);
            }
        }
    }

    @Test
    void randomOutputs() throws Exception {
        int without = 0;
        for (long seed = 1; seed <= 150; seed++) {
            Script script = new Script(seed);
            Path name = folder.resolve("s" + seed);
            try (Writer writer = Writer.create(name, script.options)) {
                script.run(writer, script.random.nextInt(100));
                Summary summary = writer.finish();
                assertEquals(script.layout, summary.layout());
                compare(summary, name, "seed " + seed);
                without += summary.statistics() == null ? 1 : 0;
            }
        }
        assertTrue(without > 10, without + " outputs without statistics");
    }

    /** The numbers themselves, which a comparison of two results of the same code would not show. */
    @Test
    void aSmallOutput() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("small" + layout);
            Summary summary;
            try (Writer writer = Writer.create(name, new WriterOptions(3).layout(layout).fileId(new UUID(5, 6)))) {
                writer.write(2, Outputs.bytes("12345"));
                writer.broadcast(Outputs.bytes("for all"));
                writer.broadcast(Outputs.bytes("again"));
                writer.writeEvent(0, 1, Outputs.bytes("event"));
                summary = writer.finish();
            }
            assertEquals(layout, summary.layout());
            assertEquals(new UUID(5, 6), summary.fileId());
            // The event ends the region that holds shared records.
            assertEquals(2, summary.regions());
            assertEquals(3, summary.blocks());
            Statistics statistics = summary.statistics();
            assertEquals(2, statistics.recordsToAll());
            assertEquals(4 + 7 + 4 + 5, statistics.plainToAll());
            assertEquals(24 + 24, statistics.storedToAll());
            assertEquals(3, statistics.records(2));
            assertEquals(2, statistics.records(0));
            assertEquals(9 + 20, statistics.plain(2));
            assertEquals(24 + 16 + 48, statistics.stored(2));
            assertEquals(24 + 8 + 48, statistics.stored(0));
            assertEquals((layout == Layout.SINGLE ? 0 : 64) + 40 + 48 + 32, summary.dataBytes());
            compare(summary, name, layout.toString());
        }
    }

    /** In a single file, a dictionary is not among the blocks of a region. */
    @Test
    void anOutputWithADictionary() throws Exception {
        byte[] dictionary = new byte[100];
        ByteBuffer.wrap(dictionary).put(new byte[] {0x37, (byte) 0xA4, 0x30, (byte) 0xEC});
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("dictionary" + layout);
            WriterOptions options = new WriterOptions(2).layout(layout).dictionaries(true).codec(Codec.ZSTD);
            try (Writer writer = Writer.create(name, options)) {
                writer.dictionary(dictionary);
                writer.write(1, Outputs.bytes("after a dictionary"));
                Summary summary = writer.finish();
                assertEquals(1, summary.blocks());
                compareSizes(summary, layout == Layout.SINGLE ? 48 : 64 + 128 + 48);
            }
        }
    }

    private static void compareSizes(Summary summary, long dataBytes) throws Exception {
        long all = 0;
        for (Path file : summary.files()) {
            all += Files.size(file);
        }
        assertEquals(dataBytes, summary.dataBytes());
        assertEquals(all, summary.dataBytes() + summary.indexBytes());
    }

    @Test
    void anEmptyOutput() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("empty" + layout);
            try (Writer writer = Writer.create(name, new WriterOptions(2).layout(layout))) {
                Summary summary = writer.finish();
                assertEquals(0, summary.regions());
                assertEquals(0, summary.blocks());
                assertEquals(layout == Layout.SINGLE ? 0 : 64, summary.dataBytes());
                assertNotNull(summary.statistics());
                compare(summary, name, layout.toString());
            }
        }
    }

    @Test
    void blocksAreCountedWithoutTheGapsBetweenThem() throws Exception {
        Path name = folder.resolve("gaps");
        Summary summary;
        try (Writer writer = Writer.create(name, new WriterOptions(3).layout(Layout.SINGLE).selective(true))) {
            try (RegionWriter region = writer.region()) {
                region.sequence(7);
                region.block(1, BlockKind.EVENT, ByteBuffer.allocate(5), 0);
                region.sequence(90);
                region.block(1, BlockKind.EVENT, ByteBuffer.allocate(6), 0);
                region.sharedAll();
                region.sequence(3);
                region.block(BlockKind.EVENT, ByteBuffer.allocate(7), 0);
                // A refused block leaves the wanted sequence for the next one.
                region.sequence(2);
                assertThrows(FaroException.class, () -> region.block(BlockKind.EVENT, ByteBuffer.allocate(8), 0));
                region.sequence(4);
                region.block(BlockKind.EVENT, ByteBuffer.allocate(8), 0);
                region.end();
            }
            try (RegionWriter region = writer.region()) {
                region.sequence(1000);
                region.block(1, BlockKind.EVENT, ByteBuffer.allocate(9), 0);
            }
            try (RegionWriter region = writer.region()) {
                region.sequence(91);
                region.block(1, BlockKind.EVENT, ByteBuffer.allocate(9), 0);
                region.end();
            }
            assertEquals(5, writer.figures().blocks());
            writer.skipTo(2, 6);
            writer.skipSharedTo(8);
            summary = writer.finish();
        }
        compare(summary, name, "gaps");
        List<Long> sequences = new ArrayList<>();
        try (Reader reader = Outputs.open(name, Layout.SINGLE); BlockCursor blocks = reader.partition(1)) {
            while (blocks.next()) {
                sequences.add(blocks.sequence());
            }
            Streams streams = reader.footer().streams();
            assertEquals(List.of(0L, 92L, 6L), List.of(streams.next(0), streams.next(1), streams.next(2)));
            assertEquals(List.of(0L, 89L, 6L), List.of(streams.missing(0), streams.missing(1), streams.missing(2)));
            assertEquals(List.of(8L, 6L), List.of(streams.sharedNext(), streams.sharedMissing()));
        }
        assertEquals(List.of(7L, 90L, 3L, 4L, 91L), sequences);
    }
}
