package dev.faro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.codec.Encoder;
import dev.faro.follow.Follower;
import dev.faro.reader.Feed;
import dev.faro.reader.Opening;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.repair.Clean;
import dev.faro.repair.CleanOptions;
import dev.faro.repair.Rebuild;
import dev.faro.repair.RebuildOptions;
import dev.faro.repair.Recover;
import dev.faro.repair.RecoverOptions;
import dev.faro.repair.Repair;
import dev.faro.repair.RepairOptions;
import dev.faro.scheduler.Consumer;
import dev.faro.scheduler.Scheduler;
import dev.faro.scheduler.SchedulerOptions;
import dev.faro.storage.DestinationCheck;
import dev.faro.storage.LocalFile;
import dev.faro.storage.MemoryDestination;
import dev.faro.storage.MemoryFile;
import dev.faro.storage.RangeRead;
import dev.faro.storage.StoredFileCheck;
import dev.faro.storage.StoredOutput;
import dev.faro.storage.Wanted;
import dev.faro.testing.Outputs;
import dev.faro.writer.RegionWriter;
import dev.faro.writer.StoredBlock;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Null where a call needs an object: the exception names the argument, and nothing has changed. */
class NullArgumentsTest {
    private static final ReaderOptions READING = ReaderOptions.DEFAULT;
    private static final ByteBuffer BYTES = ByteBuffer.wrap(new byte[] {1});
    private static final int[] PARTITIONS = {0, 1};

    @TempDir
    Path folder;

    private record Row(String argument, Executable call) {}

    private static void expect(List<Row> rows) {
        List<String> expected = new ArrayList<>();
        List<String> found = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            expected.add(i + ": " + rows.get(i).argument);
            found.add(i + ": " + assertThrows(NullPointerException.class, rows.get(i).call, "row " + i).getMessage());
        }
        assertEquals(expected, found);
    }

    @Test
    void filesAndOptions() throws Exception {
        Path path = folder.resolve("out");
        WriterOptions writing = new WriterOptions(2);
        expect(List.of(
                new Row("name", () -> Writer.create(null, writing)),
                new Row("options", () -> Writer.create(path, null)),
                new Row("data", () -> Writer.createPair(null, path, writing)),
                new Row("index", () -> Writer.createPair(path, null, writing)),
                new Row("options", () -> Writer.createPair(path, path, null)),
                new Row("destination", () -> Writer.createIn(null, writing)),
                new Row("options", () -> Writer.createIn(new MemoryDestination("m"), null)),
                new Row("name", () -> new MemoryDestination(null)),
                new Row("factory", () -> DestinationCheck.check(null, null)),
                new Row("name", () -> Reader.open(null, READING)),
                new Row("options", () -> Reader.open(path, null)),
                new Row("data", () -> Reader.openPair(null, path, READING)),
                new Row("index", () -> Reader.openPair(path, null, READING)),
                new Row("options", () -> Reader.openPair(path, path, null)),
                new Row("file", () -> Reader.openSingle(null, READING)),
                new Row("options", () -> Reader.openSingle(path, null)),
                new Row("output", () -> Reader.openStored(null, READING)),
                new Row("options", () -> Reader.openStored(StoredOutput.single(new MemoryFile("m", BYTES)), null)),
                new Row("data", () -> Opening.ofPair(null, "i", READING)),
                new Row("index", () -> Opening.ofPair("d", null, READING)),
                new Row("options", () -> Opening.ofPair("d", "i", null)),
                new Row("name", () -> Opening.ofSingle(null, READING)),
                new Row("role", () -> Opening.ofSingle("s", READING).bring(null, 0, BYTES, 1)),
                new Row("bytes", () -> Opening.ofSingle("s", READING).bring(FileRole.SINGLE, 0, null, 1)),
                new Row("cause", () -> Opening.ofSingle("s", READING).fail(FileRole.SINGLE, null)),
                new Row("failed", () -> Opening.wantedBy(null)),
                new Row("role", () -> new Wanted(null, 0, 1)),
                new Row("path", () -> LocalFile.open(null)),
                new Row("name", () -> new MemoryFile(null, BYTES)),
                new Row("bytes", () -> new MemoryFile("m", null)),
                new Row("target", () -> new RangeRead(0, null)),
                new Row("data", () -> StoredOutput.paired(null, new MemoryFile("m", BYTES))),
                new Row("index", () -> StoredOutput.paired(new MemoryFile("m", BYTES), null)),
                new Row("file", () -> StoredOutput.single(null)),
                new Row("file", () -> StoredFileCheck.check(null, BYTES)),
                new Row("expected", () -> StoredFileCheck.check(new MemoryFile("m", BYTES), null)),
                new Row("name", () -> Follower.open(null, READING)),
                new Row("options", () -> Follower.open(path, null)),
                new Row("data", () -> Follower.openPair(null, path, READING)),
                new Row("index", () -> Follower.openPair(path, null, READING)),
                new Row("options", () -> Follower.openPair(path, path, null)),
                new Row("file", () -> Follower.openSingle(null, READING)),
                new Row("options", () -> Follower.openSingle(path, null)),
                new Row("name", () -> Repair.repair(null, RepairOptions.DEFAULT)),
                new Row("options", () -> Repair.repair(path, null)),
                new Row("data", () -> Repair.repairPair(null, path, RepairOptions.DEFAULT)),
                new Row("index", () -> Repair.repairPair(path, null, RepairOptions.DEFAULT)),
                new Row("options", () -> Repair.repairPair(path, path, null)),
                new Row("file", () -> Repair.repairSingle(null, RepairOptions.DEFAULT)),
                new Row("options", () -> Repair.repairSingle(path, null)),
                new Row("dataPath", () -> Rebuild.rebuild(null, path, RebuildOptions.DEFAULT)),
                new Row("indexPath", () -> Rebuild.rebuild(path, null, RebuildOptions.DEFAULT)),
                new Row("options", () -> Rebuild.rebuild(path, path, null)),
                new Row("name", () -> Recover.recover(null, RecoverOptions.DEFAULT)),
                new Row("options", () -> Recover.recover(path, null)),
                new Row("folder", () -> Clean.clean(null, CleanOptions.DEFAULT)),
                new Row("options", () -> Clean.clean(path, null)),
                new Row("limits", () -> READING.withLimits(null)),
                new Row("lookup", () -> READING.withLookup(null)),
                new Row("limits", () -> RepairOptions.DEFAULT.withLimits(null)),
                new Row("limits", () -> RebuildOptions.DEFAULT.withLimits(null)),
                new Row("limits", () -> RecoverOptions.DEFAULT.withLimits(null)),
                new Row("olderThan", () -> CleanOptions.DEFAULT.withOlderThan(null)),
                new Row("codec", () -> new Encoder(null, 1)),
                new Row("options", () -> new Scheduler(null)),
                new Row("options", () -> new Scheduler(null, Runnable::run)),
                new Row("buffers", () -> new Scheduler(SchedulerOptions.DEFAULT, null, null))));
        assertEquals(List.of(), Outputs.names(folder));
    }

    /** Without framing, no other check looks at a record, so that null would reach the sort buffer. */
    @Test
    void writing() throws Exception {
        Path path = folder.resolve("out");
        try (Writer writer = Writer.create(path, new WriterOptions(2).framing(Framing.OPAQUE).dictionaries(true))) {
            expect(List.of(
                    new Row("record", () -> writer.write(0, null)),
                    new Row("event", () -> writer.writeEvent(0, BlockKind.EVENT, null)),
                    new Row("record", () -> writer.broadcast(null)),
                    new Row("event", () -> writer.broadcastEvent(BlockKind.EVENT, null)),
                    new Row("record", () -> writer.multicast(PARTITIONS, null)),
                    new Row("partitions", () -> writer.multicast(null, BYTES)),
                    new Row("event", () -> writer.multicastEvent(PARTITIONS, BlockKind.EVENT, null)),
                    new Row("partitions", () -> writer.multicastEvent(null, BlockKind.EVENT, BYTES)),
                    new Row("dictionary", () -> writer.dictionary(null)),
                    new Row("key", () -> writer.property(null, "value")),
                    new Row("value", () -> writer.property("key", null)),
                    new Row("options", () -> writer.finishAndOpen(null))));
            try (RegionWriter region = writer.region()) {
                expect(List.of(
                        new Row("payload", () -> region.block(0, BlockKind.DATA, null, 1)),
                        new Row("block", () -> region.storedBlock(0, null, 1)),
                        new Row("partitions", () -> region.shared((int[]) null)),
                        new Row("payload", () -> StoredBlock.of(BlockKind.DATA, null, 1, null))));
                region.block(0, BlockKind.DATA, BYTES, 1);
                region.sharedAll();
                expect(List.of(
                        new Row("payload", () -> region.block(BlockKind.DATA, null, 1)),
                        new Row("block", () -> region.storedBlock(null, 1))));
                region.end();
            }
            writer.finish();
        }
        try (Reader reader = Reader.open(path, READING)) {
            assertEquals(1, reader.regionCount());
        }
    }

    @Test
    void reading() throws Exception {
        Path path = folder.resolve("even");
        Outputs.even(path, 2, 1, 10);
        try (Reader reader = Reader.open(path, READING);
                Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT);
                Consumer consumer = scheduler.partition(reader, 0);
                Feed feed = new Feed(reader, 0, 1, buffer -> {})) {
            expect(List.of(
                    new Row("reader", () -> Check.check(null, CheckLevel.DECODE)),
                    new Row("level", () -> Check.check(reader, null)),
                    new Row("reader", () -> scheduler.partition(null, 0)),
                    new Row("reader", () -> scheduler.range(null, 0, 1)),
                    new Row("called", () -> consumer.onReady(null)),
                    new Row("reader", () -> new Feed(null, 0, 1, buffer -> {})),
                    new Row("returns", () -> new Feed(reader, 0, 1, null)),
                    new Row("bytes", () -> feed.bring(null, 0)),
                    new Row("fault", () -> feed.endWith(null))));
        }
    }
}
