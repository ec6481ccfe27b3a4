package dev.faro.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.BlockKind;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.codec.Codec;
import dev.faro.follow.Follower;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.PartitionReader;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.reader.RecordCursor;
import dev.faro.repair.Rebuild;
import dev.faro.repair.RebuildOptions;
import dev.faro.repair.Repair;
import dev.faro.repair.RepairOptions;
import dev.faro.repair.RepairReport.Action;
import dev.faro.testing.Outputs;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Files with small blocks that are compressed with dictionaries (DIC). */
final class DictionariesTest {
    private static final int PARTITIONS = 400;
    private static final int RECORDS = 60_000;
    private static final String[] WORDS =
            {"harbour", "lantern", "keeper", "northern", "signal", "weather", "island"};

    @TempDir
    private Path folder;

    private static String record(int at) {
        return String.format("%08x", at * 97) + " " + word(at) + " " + word(at / 3) + " " + word(at ^ 5);
    }

    private static String word(int number) {
        return WORDS[(number * -1640531535 >>> 7) % WORDS.length];
    }

    private static WriterOptions options(Layout layout) {
        return new WriterOptions(PARTITIONS).layout(layout).codec(Codec.ZSTD).dictionaries(true).bufferSize(256 << 10);
    }

    private Path write(String name, WriterOptions options) throws FaroException {
        Path path = folder.resolve(name);
        try (Writer writer = Writer.create(path, options)) {
            write(writer, 0, RECORDS);
            writer.finish();
        }
        return path;
    }

    private static void write(Writer writer, int from, int to) throws FaroException {
        for (int at = from; at < to; at++) {
            byte[] record = record(at).getBytes(StandardCharsets.US_ASCII);
            writer.write(at % PARTITIONS, ByteBuffer.wrap(record));
        }
    }

    private static Path file(Path name, String extension) {
        return name.resolveSibling(name.getFileName() + extension);
    }

    private static Path data(Path name, Layout layout) {
        return file(name, layout == Layout.SINGLE ? ".faro" : ".data");
    }

    private static Path index(Path name, Layout layout) {
        return file(name, layout == Layout.SINGLE ? ".faro" : ".index");
    }

    private static Reader open(Path name, Layout layout) throws FaroException {
        return layout == Layout.SINGLE
                ? Reader.openSingle(data(name, layout), ReaderOptions.DEFAULT)
                : Reader.openPair(data(name, layout), index(name, layout), ReaderOptions.DEFAULT);
    }

    private static void assertHoldsAll(PartitionReader reader) throws FaroException {
        for (int partition : new int[] {0, 7, PARTITIONS - 1}) {
            int at = partition;
            try (RecordCursor records = reader.records(partition)) {
                while (records.next()) {
                    assertEquals(record(at), StandardCharsets.US_ASCII.decode(records.record()).toString());
                    at += PARTITIONS;
                }
            }
            assertEquals(RECORDS + partition, at);
        }
    }

    @ParameterizedTest
    @EnumSource
    void smallBlocksGetADictionaryAndGiveTheirRecordsBack(Layout layout) throws Exception {
        Path name = write("with", options(layout));
        try (Reader reader = open(name, layout)) {
            assertTrue(reader.header().hasDictionaries() && reader.regionCount() > 1);
            assertEquals(1, reader.dictionaryCount());
            assertEquals(64, reader.dictionaryOffset(0));
            try (BlockCursor blocks = reader.all()) {
                while (blocks.next()) {
                    assertEquals(1, blocks.dictionary());
                }
            }
            assertHoldsAll(reader);
            Check.check(reader, CheckLevel.DECODE);
        }
        Path without = write("without", options(layout).dictionaries(false));
        try (Reader reader = open(without, layout)) {
            assertFalse(reader.header().hasDictionaries());
        }
        assertTrue(Files.size(data(name, layout)) * 10 < Files.size(data(without, layout)) * 9);
    }

    @Test
    void threadsShareAReaderAndItsDictionary() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try (Reader reader = open(write("shared", options(Layout.PAIRED)), Layout.PAIRED)) {
            Callable<Void> reads = () -> {
                assertHoldsAll(reader);
                return null;
            };
            for (var done : threads.invokeAll(List.of(reads, reads, reads, reads))) {
                done.get();
            }
        } finally {
            threads.shutdown();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFollowerSeesDictionariesWithTheRegionsAfterThem(Layout layout) throws Exception {
        Path name = folder.resolve("followed");
        try (Writer writer = Writer.create(name, options(layout).follow(true));
                Follower follower = layout == Layout.SINGLE
                        ? Follower.openSingle(data(name, layout), ReaderOptions.DEFAULT)
                        : Follower.openPair(data(name, layout), index(name, layout), ReaderOptions.DEFAULT)) {
            int seen = 0;
            for (int at = 0; at < RECORDS; at += 6000) {
                write(writer, at, at + 6000);
                follower.poll();
                assertEquals(follower.regionCount() > 0 ? 1 : 0, follower.dictionaryCount());
                try (BlockCursor blocks = follower.partition(3, seen)) {
                    while (blocks.next()) {
                        assertEquals(1, blocks.dictionary());
                        blocks.framedPayload();
                    }
                }
                seen = follower.regionCount();
            }
            assertTrue(seen > 0);
            writer.finish();
            assertTrue(follower.poll());
            assertHoldsAll(follower);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anUnfinishedOutputIsRepairedWithItsDictionaries(Layout layout) throws Exception {
        Path name = write("torn", options(layout));
        try (FileChannel channel = FileChannel.open(index(name, layout), StandardOpenOption.WRITE)) {
            channel.truncate(channel.size() - 30);
        }
        Action action = layout == Layout.SINGLE
                ? Repair.repairSingle(data(name, layout), RepairOptions.DEFAULT).action()
                : Repair.repairPair(data(name, layout), index(name, layout), RepairOptions.DEFAULT).action();
        assertEquals(Action.LAST_COMMIT, action);
        try (Reader reader = open(name, layout)) {
            assertEquals(1, reader.dictionaryCount());
            assertHoldsAll(reader);
        }
    }

    @Test
    void aRebuiltIndexHasAllDictionaries() throws Exception {
        Path name = write("lost", options(Layout.PAIRED));
        Files.delete(file(name, ".index"));
        Rebuild.rebuild(file(name, ".data"), file(name, ".index"),
                RebuildOptions.DEFAULT);
        try (Reader reader = open(name, Layout.PAIRED)) {
            assertEquals(1, reader.dictionaryCount());
            assertHoldsAll(reader);
            Check.check(reader, CheckLevel.DECODE);
        }
    }

    @ParameterizedTest
    @EnumSource
    void storedBlocksMoveToAnotherFileWithTheirDictionary(Layout layout) throws Exception {
        Path source = write("source", options(Layout.PAIRED));
        Path name = folder.resolve("target");
        try (Reader reader = open(source, Layout.PAIRED); Writer writer = Writer.create(name, options(layout))) {
            byte[] all = Files.readAllBytes(file(source, ".data"));
            byte[] dictionary = Arrays.copyOfRange(all, 88, 88 + reader.dictionarySize(0));
            // Another dictionary before it, so that the numbers differ.
            byte[] other = dictionary.clone();
            other[other.length - 1] ^= 1;
            assertEquals(1, writer.dictionary(other));
            try (RegionWriter region = writer.region()) {
                region.block(0, BlockKind.DATA, ByteBuffer.wrap(new byte[9]), 1);
            }
            assertEquals(2, writer.dictionary(dictionary));
            assertEquals(1, writer.dictionary(other));
            List<ByteBuffer> moved = new ArrayList<>();
            try (RegionWriter region = writer.region(); BlockCursor blocks = reader.partition(9)) {
                assertEquals(ErrorCode.INVALID_ARGUMENT, writing(() -> writer.dictionary(other)));
                while (blocks.next()) {
                    StoredBlock stored = StoredBlock.of(
                            BlockKind.DATA, blocks.codec(), blocks.plainSize(), blocks.storedPayload());
                    region.storedBlock(9, stored.withDictionary(2), 1);
                    assertEquals(ErrorCode.INVALID_ARGUMENT,
                            writing(() -> region.storedBlock(9, stored.withDictionary(3), 1)));
                    moved.add(copy(blocks.payload()));
                }
                region.end();
            }
            // No region follows this one.
            assertEquals(3, writer.dictionary(Arrays.copyOf(other, other.length + 1)));
            writer.finish();
            try (Reader target = open(name, layout); BlockCursor blocks = target.partition(9)) {
                assertEquals(2, target.dictionaryCount());
                Check.check(target, CheckLevel.CHECKSUMS);
                for (ByteBuffer payload : moved) {
                    assertTrue(blocks.next());
                    assertEquals(payload, blocks.payload());
                }
                assertFalse(blocks.next());
            }
        }
    }

    private static ByteBuffer copy(ByteBuffer bytes) {
        return ByteBuffer.allocate(bytes.remaining()).put(bytes).flip();
    }

    /** A call that must be refused. */
    private interface Call {
        void run() throws FaroException;
    }

    private static ErrorCode writing(Call call) {
        return assertThrows(FaroException.class, call::run).code();
    }

    @Test
    void invalidDictionariesAreRefused() throws Exception {
        byte[] large = new byte[(1 << 20) + 1];
        System.arraycopy(new byte[] {0x37, (byte) 0xA4, 0x30, (byte) 0xEC}, 0, large, 0, 4);
        byte[] small = Arrays.copyOf(large, 8);
        try (Writer writer = Writer.create(folder.resolve("some"), options(Layout.PAIRED))) {
            for (byte[] bytes : List.of(new byte[0], Arrays.copyOf(large, 7), new byte[8], large)) {
                assertEquals(ErrorCode.INVALID_ARGUMENT, writing(() -> writer.dictionary(bytes)));
            }
            assertEquals(1, writer.dictionary(small));
        }
        try (Writer writer = Writer.create(folder.resolve("none"), options(Layout.PAIRED).dictionaries(false))) {
            assertEquals(ErrorCode.INVALID_ARGUMENT, writing(() -> writer.dictionary(small)));
        }
    }

    @Test
    void faultsOfDictionariesAreReportedWhenABlockNeedsThem() throws Exception {
        Path name = write("damaged", options(Layout.PAIRED));
        byte[] good = Files.readAllBytes(file(name, ".data"));
        fault(name, good, ErrorCode.CHECKSUM, 64, false, b -> b.put(94, (byte) (b.get(94) ^ 1)));
        fault(name, good, ErrorCode.INCONSISTENT_INDEX, 82, true, b -> b.put(82, (byte) 2));
        fault(name, good, ErrorCode.INCONSISTENT_INDEX, 76, true, b -> b.put(76, (byte) 1));
        fault(name, good, ErrorCode.MALFORMED_BLOCK, 88, true, b -> b.put(88, (byte) 0));
        // The decoder refuses the tables of the dictionary.
        fault(name, good, ErrorCode.MALFORMED_BLOCK, 88, true,
                b -> b.putLong(96, -1).putLong(104, -1).putLong(112, -1));
    }

    private static void fault(
            Path name, byte[] good, ErrorCode code, long offset, boolean reseal, UnaryOperator<ByteBuffer> change)
            throws Exception {
        ByteBuffer bytes = ByteBuffer.wrap(good.clone()).order(ByteOrder.LITTLE_ENDIAN);
        change.apply(bytes);
        if (reseal) {
            Outputs.reseal(bytes, 64);
        }
        Files.write(file(name, ".data"), bytes.array());
        try (Reader reader = open(name, Layout.PAIRED); BlockCursor blocks = reader.partition(3)) {
            assertTrue(blocks.next());
            FaroException fault = assertThrows(FaroException.class, blocks::payload);
            assertEquals(code, fault.code(), fault.getMessage());
            assertEquals(offset, fault.offset());
            assertEquals(FileRole.DATA, fault.role());
        }
        Files.write(file(name, ".data"), good);
    }
}
