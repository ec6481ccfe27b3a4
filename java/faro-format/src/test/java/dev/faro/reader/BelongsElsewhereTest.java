package dev.faro.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.follow.Follower;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.message.MessageBuilder;
import dev.faro.repair.Rebuild;
import dev.faro.repair.RebuildOptions;
import dev.faro.repair.Repair;
import dev.faro.repair.RepairOptions;
import dev.faro.testing.Outputs;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Complete blocks at the places of other blocks, and headers with a wrong block size. */
class BelongsElsewhereTest {
    @TempDir
    Path folder;

    private static ByteBuffer load(Path file) throws Exception {
        return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static void expect(ErrorCode code, FileRole role, long offset, Executable call) {
        FaroException e = assertThrows(FaroException.class, call);
        assertEquals(code, e.code(), e.getMessage());
        assertEquals(role, e.role(), e.getMessage());
        assertEquals(offset, e.offset(), e.getMessage());
    }

    /** BLK-9: two outputs of one shuffle with the same blocks at the same offsets. */
    @Test
    void aBlockOfAnotherFileIsRefused() throws Exception {
        for (String name : new String[] {"a", "b"}) {
            UUID id = new UUID(7, name.charAt(0));
            try (Writer writer = Writer.create(folder.resolve(name), new WriterOptions(2).fileId(id))) {
                writer.write(0, Outputs.bytes("data of " + name));
                writer.write(1, Outputs.bytes("more of " + name));
                writer.finish();
            }
        }
        Path data = folder.resolve("a.data");
        ByteBuffer bytes = load(data);
        ByteBuffer other = load(folder.resolve("b.data"));
        int second = 64 + 24 + 16;
        System.arraycopy(other.array(), second, bytes.array(), second, bytes.limit() - second);
        Files.write(data, bytes.array());
        expect(ErrorCode.CHECKSUM, FileRole.DATA, second,
                () -> Outputs.readAll(folder.resolve("a"), Layout.PAIRED));
        // With the checksum for this file it becomes one of its blocks: nothing else is wrong with it.
        Outputs.reseal(bytes, second);
        Files.write(data, bytes.array());
        assertEquals(2, Outputs.readAll(folder.resolve("a"), Layout.PAIRED));
        ByteBuffer index = load(folder.resolve("a.index"));
        System.arraycopy(load(folder.resolve("b.index")).array(), 64, index.array(), 64, index.limit() - 64);
        Files.write(folder.resolve("a.index"), index.array());
        FaroException e = assertThrows(FaroException.class, () -> Outputs.open(folder.resolve("a"), Layout.PAIRED));
        assertEquals(ErrorCode.CHECKSUM, e.code(), e.getMessage());
    }

    /** Writes three shared extents with members, all of one size: 0 and 1, 0 and 2, 1 and 2. */
    private Path multicasts(String name, Layout layout) throws Exception {
        Path path = folder.resolve(name);
        WriterOptions options = new WriterOptions(4).layout(layout).fileId(new UUID(3, 4));
        try (Writer writer = Writer.create(path, options)) {
            writer.broadcast(Outputs.bytes("A"));
            writer.flush();
            writer.multicast(new int[] {0, 1}, Outputs.bytes("x"));
            writer.multicast(new int[] {0, 2}, Outputs.bytes("y"));
            writer.multicast(new int[] {1, 2}, Outputs.bytes("z"));
            writer.finish();
        }
        return path;
    }

    /** PRT-4, CHK-1: if two extents change places, reading either of the two reveals it. */
    @Test
    void sharedExtentsThatChangedPlaces() throws Exception {
        Path name = multicasts("swap", Layout.PAIRED);
        int block = 32;
        int first = 64 + block;
        Path data = Outputs.file(name, ".data");
        byte[] bytes = Files.readAllBytes(data);
        byte[] swapped = bytes.clone();
        System.arraycopy(bytes, first + block, swapped, first + 2 * block, block);
        System.arraycopy(bytes, first + 2 * block, swapped, first + block, block);
        Files.write(data, swapped);
        try (Reader reader = Outputs.open(name, Layout.PAIRED)) {
            // Both extents of partition 1 and one of partition 2 are wrong; partition 0 may read blocks before the
            // fault.
            expect(ErrorCode.INCONSISTENT_INDEX, FileRole.DATA, first + 2 * block + 12, () -> read(reader, 1, 0));
            expect(ErrorCode.INCONSISTENT_INDEX, FileRole.DATA, first + block + 12, () -> read(reader, 2, 0));
            expect(ErrorCode.INCONSISTENT_INDEX, FileRole.DATA, first + block + 12, () -> read(reader, 0, 1));
            expect(ErrorCode.INCONSISTENT_INDEX, FileRole.DATA, first + block + 12,
                    () -> Check.check(reader, CheckLevel.CHECKSUMS));
            assertEquals(1, read(reader, 3, 0));
        }
    }

    private static int read(Reader reader, int partition, int firstRegion) throws FaroException {
        int count = 0;
        try (BlockCursor blocks = reader.partition(partition, firstRegion)) {
            while (blocks.next()) {
                count++;
            }
        }
        return count;
    }

    /** The index with other first blocks in the second region's message. */
    private static ByteBuffer withFirstBlocks(ByteBuffer index, int message, int... first) throws Exception {
        List<MessageBuilder.Shared> shared = List.of(
                new MessageBuilder.Shared(4, new byte[] {3}, first[0]),
                new MessageBuilder.Shared(4, new byte[] {5}, first[1]),
                new MessageBuilder.Shared(4, new byte[] {6}, first[2]));
        ByteBuffer built =
                MessageBuilder.region(1, 96, 96, new int[] {0}, 0, new int[0], shared, null);
        assertEquals(index.getInt(message), built.limit());
        ByteBuffer changed = ByteBuffer.wrap(index.array().clone()).order(ByteOrder.LITTLE_ENDIAN);
        changed.put(message + 24, built, 0, built.limit());
        Outputs.reseal(changed, message);
        return changed;
    }

    /** REG-11, PRT-4 and CHK-1 step 5: the sequences that a region message states. */
    @Test
    void firstBlocksOfSharedExtents() throws Exception {
        Path name = multicasts("first", Layout.PAIRED);
        Path file = Outputs.file(name, ".index");
        Path data = Outputs.file(name, ".data");
        ByteBuffer whole = load(file);
        int message = 64 + (int) BlockHeader.sizeInFile(whole.getInt(64));
        assertEquals(whole, withFirstBlocks(whole, message, 1, 2, 3));
        for (int[] notAscending : new int[][] {{1, 1, 3}, {1, 3, 3}, {1, 3, 2}, {-1, 2, 3}}) {
            Files.write(file, withFirstBlocks(whole, message, notAscending).array());
            try (Reader reader = Outputs.open(name, Layout.PAIRED)) {
                expect(ErrorCode.INCONSISTENT_INDEX, FileRole.INDEX, message + 24, () -> read(reader, 3, 0));
                expect(ErrorCode.INCONSISTENT_INDEX, FileRole.INDEX, message + 24,
                        () -> Check.check(reader, CheckLevel.STRUCTURE));
            }
        }
        Files.write(file, withFirstBlocks(whole, message, 2, 3, 4).array());
        try (Reader reader = Outputs.open(name, Layout.PAIRED)) {
            Check.check(reader, CheckLevel.STRUCTURE);
            expect(ErrorCode.INCONSISTENT_INDEX, FileRole.DATA, 96 + 12, () -> read(reader, 0, 0));
            expect(ErrorCode.INCONSISTENT_INDEX, FileRole.DATA, 96 + 12,
                    () -> Check.check(reader, CheckLevel.CHECKSUMS));
        }
        // Blocks and index agree on a gap: only a check that counts all shared blocks of the file finds it.
        ByteBuffer bytes = load(data);
        for (int i = 0; i < 3; i++) {
            bytes.putInt(96 + 32 * i + 12, 2 + i);
            Outputs.reseal(bytes, 96 + 32 * i);
        }
        Files.write(data, bytes.array());
        try (Reader reader = Outputs.open(name, Layout.PAIRED)) {
            assertEquals(3, read(reader, 0, 0));
            expect(ErrorCode.INCONSISTENT_INDEX, FileRole.DATA, 96 + 12,
                    () -> Check.check(reader, CheckLevel.CHECKSUMS));
        }
    }

    /** REP-7: a rebuilt index has the sequences of the blocks. */
    @Test
    void rebuildTakesFirstBlocksFromTheBlocks() throws Exception {
        Path name = multicasts("rebuilt", Layout.PAIRED);
        Rebuild.rebuild(Outputs.file(name, ".data"), Outputs.file(name, ".index"),
                RebuildOptions.DEFAULT.withSharedToAll(true));
        assertEquals(16, Outputs.readAll(name, Layout.PAIRED));
        Outputs.check(name, Layout.PAIRED);
        Path later = folder.resolve("later");
        try (Writer writer = Writer.create(later, new WriterOptions(2))) {
            for (int region = 0; region < 3; region++) {
                writer.broadcastEvent(1, Outputs.bytes("x"));
                writer.broadcastEvent(1, Outputs.bytes("x"));
                writer.write(0, Outputs.bytes("y"));
            }
            writer.finish();
        }
        Rebuild.rebuild(Outputs.file(later, ".data"), Outputs.file(later, ".index"),
                RebuildOptions.DEFAULT.withSharedToAll(true));
        Outputs.check(later, Layout.PAIRED);
        try (Reader reader = Outputs.open(later, Layout.PAIRED)) {
            assertEquals(4, reader.region(2).sharedFirstBlock(0));
        }
    }

    /**
     * The index file or single file without its end, as a writer that died leaves it; the other file stays complete.
     */
    private static ByteBuffer cut(Path file) throws Exception {
        ByteBuffer whole = load(file);
        int footer = (int) whole.getLong(whole.limit() - 24);
        return ByteBuffer.wrap(Arrays.copyOf(whole.array(), footer)).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** FOL-2: no flipped bit of a header makes the following blocks disappear without a fault. */
    @Test
    void aHeaderIsCheckedBeforeItsSizeIsBelieved() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = multicasts("header" + layout, layout);
            Path file = Outputs.files(name, layout).get(layout == Layout.SINGLE ? 0 : 1);
            ByteBuffer bytes = cut(file);
            Files.write(file, bytes.array());
            try (Follower follower = Outputs.follow(name, layout)) {
                follower.poll();
                assertEquals(2, follower.regionCount());
            }
            int at = 64;
            while (at < bytes.limit()) {
                int next = at + (int) BlockHeader.sizeInFile(bytes.getInt(at));
                // The last block may be a torn write if its kind is other metadata, or its checksum is another.
                int bits = next == bytes.limit() ? 16 * 8 : 24 * 8;
                for (int bit = 0; bit < bits; bit++) {
                    flip(name, layout, file, bytes, at, bit);
                }
                at = next;
            }
        }
    }

    private static void flip(Path name, Layout layout, Path file, ByteBuffer bytes, int at, int bit)
            throws Exception {
        byte[] damaged = bytes.array().clone();
        damaged[at + bit / 8] ^= (byte) (1 << bit % 8);
        Files.write(file, damaged);
        String where = layout + " " + at + " bit " + bit;
        try (Follower follower = Outputs.follow(name, layout)) {
            expectIn(at, where, follower::poll);
        }
        expectIn(at, where, () -> repair(name, layout));
    }

    private static void expectIn(int header, String where, Executable call) {
        FaroException e = assertThrows(FaroException.class, call, where);
        assertTrue(e.offset() >= header && e.offset() < header + 24, where + ": " + e.getMessage());
    }

    private static void repair(Path name, Layout layout) throws FaroException {
        RepairOptions options = RepairOptions.DEFAULT.withDryRun(true);
        if (layout == Layout.SINGLE) {
            Repair.repairSingle(Outputs.file(name, ".faro"), options);
        } else {
            Repair.repairPair(Outputs.file(name, ".data"), Outputs.file(name, ".index"), options);
        }
    }

    /**
     * REP-1: a header that is cut after any of its first words, with zeros after it, is a block that is not written
     * yet. With other bytes after it, it is damage.
     */
    @Test
    void repairTakesZerosForBytesThatAreNotWrittenYet() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = multicasts("zeros" + layout, layout);
            Path file = Outputs.files(name, layout).get(layout == Layout.SINGLE ? 0 : 1);
            ByteBuffer bytes = cut(file);
            int last = 64;
            while (last + (int) BlockHeader.sizeInFile(bytes.getInt(last)) < bytes.limit()) {
                last += (int) BlockHeader.sizeInFile(bytes.getInt(last));
            }
            for (int kept : new int[] {0, 8, 16}) {
                byte[] zeros = Arrays.copyOf(Arrays.copyOf(bytes.array(), last + kept), last + 5000);
                Files.write(file, zeros);
                repair(name, layout);
                zeros[zeros.length - 1] = 1;
                Files.write(file, zeros);
                String where = layout + " " + kept;
                assertThrows(FaroException.class, () -> repair(name, layout), where);
            }
        }
    }
}
