package dev.faro.repair;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.Framing;
import dev.faro.Limits;
import dev.faro.follow.Follower;
import dev.faro.reader.Reader;
import dev.faro.repair.RepairReport.Action;
import dev.faro.testing.Errors;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingFileSystem;
import dev.faro.testing.Script;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class RepairTest {
    @TempDir
    Path folder;

    private static RepairReport repair(Path name, Layout layout, boolean dryRun) throws FaroException {
        RepairOptions options = RepairOptions.DEFAULT.withDryRun(dryRun);
        return layout == Layout.SINGLE
                ? Repair.repairSingle(Outputs.file(name, ".faro"), options)
                : Repair.repairPair(Outputs.file(name, ".data"), Outputs.file(name, ".index"), options);
    }

    /** Makes the files of a writer that died in follow mode, before it finished. */
    private byte[][] unfinished(Path name, Layout layout) throws Exception {
        WriterOptions options = new WriterOptions(3).layout(layout).follow(true).fileId(new UUID(7, 8));
        try (Writer writer = Writer.create(name, options)) {
            for (int i = 0; i < 4; i++) {
                writer.write(i % 3, Outputs.bytes("record " + i));
                writer.broadcast(Outputs.bytes("all " + i));
                writer.flush();
            }
            List<Path> files = Outputs.files(name, layout);
            byte[][] bytes = new byte[files.size()][];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = Files.readAllBytes(files.get(i));
            }
            return bytes;
        }
    }

    @Test
    void everyCutKeepsTheCommittedRegions() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("cut" + layout);
            byte[][] bytes = unfinished(name, layout);
            List<Path> files = Outputs.files(name, layout);
            byte[] index = bytes[bytes.length - 1];
            for (int size = 64; size <= index.length; size++) {
                for (int i = 0; i < bytes.length; i++) {
                    Files.write(files.get(i), bytes[i]);
                }
                Files.write(files.get(files.size() - 1), Arrays.copyOf(index, size));
                int committed;
                try (Follower follower = Outputs.follow(name, layout)) {
                    follower.poll();
                    committed = follower.regionCount();
                }
                RepairReport dry = repair(name, layout, true);
                assertEquals(size, Files.size(files.get(files.size() - 1)));
                RepairReport report = repair(name, layout, false);
                assertEquals(dry, report);
                assertEquals(Action.LAST_COMMIT, report.action());
                assertEquals(committed, report.regions());
                assertEquals(committed, Outputs.check(name, layout).regions());
                try (Reader reader = Outputs.open(name, layout)) {
                    assertEquals(Map.of("faro.repair", "last-commit"), reader.footer().properties());
                }
                assertEquals(Action.NOTHING, repair(name, layout, false).action());
            }
        }
    }

    @Test
    void aBrokenTailIsWrittenAgain() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("tail" + layout);
            Outputs.small(name, new WriterOptions(3).layout(layout));
            Path file = Outputs.files(name, layout).get(layout == Layout.SINGLE ? 0 : 1);
            byte[] whole = Files.readAllBytes(file);
            for (int cut = 1; cut <= 24; cut++) {
                Files.write(file, Arrays.copyOf(whole, whole.length - cut));
                repair(name, layout, false);
                assertArrayEquals(whole, Files.readAllBytes(file));
                byte[] damaged = whole.clone();
                damaged[whole.length - cut] ^= 1;
                Files.write(file, damaged);
                repair(name, layout, false);
                assertArrayEquals(whole, Files.readAllBytes(file));
            }
        }
    }

    @Test
    void damageIsReportedAndNothingChanged() throws Exception {
        Path name = folder.resolve("damage");
        byte[][] bytes = unfinished(name, Layout.PAIRED);
        byte[] index = bytes[1].clone();
        index[100] ^= 1;
        Files.write(Outputs.file(name, ".data"), bytes[0]);
        Files.write(Outputs.file(name, ".index"), index);
        FaroException e = assertThrows(FaroException.class, () -> repair(name, Layout.PAIRED, false));
        assertEquals(ErrorCode.CHECKSUM, e.code());
        assertArrayEquals(index, Files.readAllBytes(Outputs.file(name, ".index")));
    }

    @Test
    void rebuildingALostIndex() throws Exception {
        for (boolean toAll : new boolean[] {false, true}) {
            Path name = folder.resolve("lost" + toAll);
            Outputs.small(name, new WriterOptions(3));
            int blocks = (int) Outputs.check(name, Layout.PAIRED).blocks();
            Path data = Outputs.file(name, ".data");
            Path index = Outputs.file(name, ".index");
            Files.delete(index);
            RepairReport report = Rebuild.rebuild(data, index, RebuildOptions.DEFAULT.withSharedToAll(toAll));
            assertEquals(Action.REBUILT, report.action());
            assertEquals(blocks, report.blocks());
            assertEquals(toAll ? 0 : 2, report.orphaned());
            assertEquals(blocks, Outputs.check(name, Layout.PAIRED).blocks());
            assertEquals(toAll ? 3 + 2 * 3 : 3, Outputs.readAll(name, Layout.PAIRED));
        }
    }

    /** REP-10: the index of a rebuild that died is replaced, and a rebuild that fails leaves nothing. */
    @Test
    void rebuildingAgain() throws Exception {
        Path name = folder.resolve("again");
        Outputs.small(name, new WriterOptions(3));
        Path data = Outputs.file(name, ".data");
        Path index = Outputs.file(name, ".index");
        RebuildOptions options = RebuildOptions.DEFAULT.withSharedToAll(true);
        RecordingFileSystem system = new RecordingFileSystem();
        int refused = 0;
        boolean failed = true;
        while (failed) {
            Files.writeString(folder.resolve("again.index.rebuild.tmp"), "what a rebuild left");
            byte[] before = Files.readAllBytes(index);
            byte[] whole = Files.readAllBytes(data);
            system.refuse(refused++);
            try {
                Rebuild.rebuild(system.path(data), system.path(index), options);
                failed = false;
                List<String> calls = system.calls().stream().distinct().toList();
                assertEquals(List.of("write again.index.rebuild.tmp", "sync again.index.rebuild.tmp", "cut again.data",
                        "sync again.data", "rename to again.index", "sync " + folder.getFileName()), calls);
            } catch (FaroException e) {
                assertEquals(ErrorCode.IO, e.code());
                if (!system.calls().get(system.calls().size() - 1).startsWith("sync " + folder.getFileName())) {
                    assertArrayEquals(before, Files.readAllBytes(index));
                }
                assertArrayEquals(whole, Files.readAllBytes(data));
            }
            assertEquals(List.of("again.data", "again.index"), Outputs.names(folder));
        }
        assertEquals(3 + 2 * 3, Outputs.readAll(name, Layout.PAIRED));
    }

    @Test
    void aRebuiltIndexKeepsToTheLimits() throws Exception {
        Path name = folder.resolve("limits");
        try (Writer writer = Writer.create(name, new WriterOptions(100))) {
            for (int partition = 2; partition >= 0; partition--) {
                writer.write(partition, ByteBuffer.allocate(4));
                writer.flush();
            }
            writer.finish();
        }
        Path data = Outputs.file(name, ".data");
        Path index = Outputs.file(name, ".index");
        byte[] before = Files.readAllBytes(index);
        // A block has 24 + 8 bytes. The end of the walk closes the last region, a block closes the region before it.
        long[][] refused = {{64 << 20, 2, 128}, {64 << 20, 1, 96}, {8, 3, 64}};
        for (long[] row : refused) {
            Limits limits = Limits.DEFAULT.withMaxMessageSize(row[0]).withMaxRegions(row[1]);
            for (boolean dryRun : new boolean[] {true, false}) {
                FaroException e = assertThrows(FaroException.class,
                        () -> Rebuild.rebuild(data, index, RebuildOptions.DEFAULT.withLimits(limits)
                                .withDryRun(dryRun)));
                assertEquals(ErrorCode.LIMIT_EXCEEDED, e.code());
                assertEquals(FileRole.DATA, e.role());
                assertEquals(row[2], e.offset());
                assertArrayEquals(before, Files.readAllBytes(index));
            }
        }
        Limits enough = Limits.DEFAULT.withMaxMessageSize(400).withMaxRegions(3);
        assertEquals(3, Rebuild.rebuild(data, index, RebuildOptions.DEFAULT.withLimits(enough)).regions());
    }

    @Test
    void rebuildingAfterEveryCutOfTheData() throws Exception {
        Path name = folder.resolve("rebuild");
        Outputs.small(name, new WriterOptions(3));
        Path data = Outputs.file(name, ".data");
        Path index = Outputs.file(name, ".index");
        byte[] whole = Files.readAllBytes(data);
        for (int size = 64; size <= whole.length; size++) {
            Files.write(data, Arrays.copyOf(whole, size));
            RepairReport report = Rebuild.rebuild(data, index, RebuildOptions.DEFAULT.withSharedToAll(true));
            assertEquals(size, report.dataKept() + report.dataCut());
            assertEquals(report.dataKept(), Files.size(data));
            assertEquals(report.blocks(), Outputs.check(name, Layout.PAIRED).blocks());
        }
        assertEquals(List.of("rebuild.data", "rebuild.index"), Outputs.names(folder));
    }

    /** REP-5: the report of a rebuild names the failure at which the walk ended. */
    @Test
    void aRebuildReportsWhereItEnded() throws Exception {
        Path name = folder.resolve("ended");
        try (Writer writer = Writer.create(name, new WriterOptions(3))) {
            for (int partition = 0; partition < 3; partition++) {
                writer.write(partition, ByteBuffer.allocate(4));
            }
            writer.finish();
        }
        Path data = Outputs.file(name, ".data");
        Path index = Outputs.file(name, ".index");
        byte[] whole = Files.readAllBytes(data);
        assertEquals(64 + 3 * 32, whole.length);
        record Row(int at, int value, boolean resealed, ErrorCode code, long offset) {}
        List<Row> rows = List.of(
                // A byte of the payload, the stored size, the codec, the partition, and the sequence of the second
                // block.
                new Row(96 + 24, 1, false, ErrorCode.CHECKSUM, 96),
                new Row(96 + 1, 1, false, ErrorCode.MALFORMED_BLOCK, 96),
                new Row(96 + 17, 1, true, ErrorCode.MALFORMED_BLOCK, 96 + 4),
                new Row(96 + 8, 3, true, ErrorCode.INCONSISTENT_INDEX, 96 + 8),
                new Row(96 + 12, 1, true, ErrorCode.INCONSISTENT_INDEX, 96 + 12));
        for (Row row : rows) {
            byte[] damaged = whole.clone();
            damaged[row.at()] = (byte) row.value();
            if (row.resealed()) {
                Outputs.reseal(ByteBuffer.wrap(damaged).order(ByteOrder.LITTLE_ENDIAN), 96);
            }
            Files.write(data, damaged);
            RepairReport dry = Rebuild.rebuild(data, index, RebuildOptions.DEFAULT.withDryRun(true));
            RepairReport report = Rebuild.rebuild(data, index, RebuildOptions.DEFAULT);
            assertEquals(dry, report);
            assertEquals(dry.hashCode(), report.hashCode());
            FaroException fault = report.fault().orElseThrow();
            assertEquals(row.code(), fault.code(), fault.getMessage());
            assertEquals(row.offset(), fault.offset(), fault.getMessage());
            assertEquals(FileRole.DATA, fault.role());
            assertEquals(data, fault.file());
            assertEquals(1, report.blocks());
            // What is left has no damage.
            assertEquals(Optional.empty(), Rebuild.rebuild(data, index, RebuildOptions.DEFAULT).fault());
        }
    }

    @Test
    void randomRebuildsDeliverTheOwnBlocks() throws Exception {
        for (long seed = 1; seed <= 60; seed++) {
            Script script = new Script(seed);
            script.options.layout(Layout.PAIRED);
            Path name = folder.resolve("r" + seed);
            try (Writer writer = Writer.create(name, script.options)) {
                script.run(writer, 100);
                writer.finish();
            }
            long blocks = Outputs.check(name, Layout.PAIRED).blocks();
            byte[] schema = script.framing == Framing.ARROW ? Script.ARROW : null;
            RepairReport report = Rebuild.rebuild(Outputs.file(name, ".data"), Outputs.file(name, ".index"),
                    RebuildOptions.DEFAULT.withSchema(schema));
            assertEquals(blocks, report.blocks(), "seed " + seed);
            assertEquals(blocks, Outputs.check(name, Layout.PAIRED).blocks(), "seed " + seed);
        }
    }

    /** REP-5, checks 5a and 5b. */
    @Test
    void aRebuildTakesASchemaThatTheFramingNeedsAndNoOther() throws Exception {
        Path records = folder.resolve("records");
        Path arrow = folder.resolve("arrow");
        Outputs.small(records, new WriterOptions(3));
        try (Writer writer = Writer.create(arrow, new WriterOptions(1).framing(Framing.ARROW).schema(Script.ARROW))) {
            writer.finish();
        }
        record Row(Path name, byte[] schema, boolean taken) {}
        List<Row> rows = List.of(
                new Row(records, null, true), new Row(records, Script.ARROW, false), new Row(arrow, null, false),
                new Row(arrow, new byte[5], false), new Row(arrow, Script.ARROW, true));
        for (Row row : rows) {
            Executable call = () -> Rebuild.rebuild(Outputs.file(row.name(), ".data"),
                    Outputs.file(row.name(), ".index"), RebuildOptions.DEFAULT.withSchema(row.schema()));
            if (row.taken()) {
                assertDoesNotThrow(call);
            } else {
                Errors.expect(ErrorCode.INVALID_ARGUMENT, call);
            }
        }
    }

    @Test
    void followersSeeNoFaultAtAnyLength() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("grow" + layout);
            Outputs.small(name, new WriterOptions(3).layout(layout));
            Path file = Outputs.files(name, layout).get(layout == Layout.SINGLE ? 0 : 1);
            byte[] whole = Files.readAllBytes(file);
            Files.write(file, Arrays.copyOf(whole, 64));
            try (Follower follower = Outputs.follow(name, layout);
                    java.nio.channels.FileChannel channel =
                            java.nio.channels.FileChannel.open(file, java.nio.file.StandardOpenOption.WRITE)) {
                for (int size = 64; size < whole.length; size++) {
                    assertEquals(false, follower.poll());
                    channel.write(ByteBuffer.wrap(whole, size, 1), size);
                }
                assertEquals(true, follower.poll());
                assertEquals(2, follower.regionCount());
                Outputs.readAll(follower);
            }
        }
    }
}
