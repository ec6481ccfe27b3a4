package dev.faro.writer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingFileSystem;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** What a writer does if the system does less than it should, or nothing. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FaultsOfWritingTest {
    private final RecordingFileSystem system = new RecordingFileSystem();

    @TempDir
    Path folder;

    private static WriterOptions options(Layout layout) {
        return new WriterOptions(3).layout(layout).fileId(new UUID(0x0102030400000000L, 0));
    }

    private static void write(Writer writer) throws FaroException {
        for (int i = 0; i < 5; i++) {
            writer.write(i % 3, ByteBuffer.allocate(300 + i));
            writer.broadcast(Outputs.bytes("to all " + i));
        }
        writer.finish();
    }

    private static FaroException expectIo(Executable call) {
        FaroException e = assertThrows(FaroException.class, call);
        assertEquals(ErrorCode.IO, e.code(), e.getMessage());
        return e;
    }

    private static Throwable root(Throwable error) {
        return error.getCause() == null ? error : root(error.getCause());
    }

    @Test
    void shortWritesMakeTheSameFiles() throws Exception {
        for (Layout layout : Layout.values()) {
            Path plain = folder.resolve("plain" + layout);
            try (Writer writer = Writer.create(plain, options(layout))) {
                write(writer);
            }
            for (int max : new int[] {1, 7, 100}) {
                Path name = folder.resolve("pieces" + layout + max);
                system.pieces().set(max, 3);
                try (Writer writer = Writer.create(system.path(name), options(layout))) {
                    write(writer);
                }
                for (int i = 0; i < Outputs.files(name, layout).size(); i++) {
                    assertArrayEquals(Files.readAllBytes(Outputs.files(plain, layout).get(i)),
                            Files.readAllBytes(Outputs.files(name, layout).get(i)));
                }
            }
        }
    }

    @Test
    void aChannelThatAcceptsNothingIsAnErrorAndNotAnEndlessLoop() throws Exception {
        try (Writer writer = Writer.create(system.path(folder.resolve("stuck")), options(Layout.PAIRED))) {
            writer.write(0, Outputs.bytes("x"));
            system.pieces().set(1, 0);
            FaroException e = expectIo(writer::flush);
            assertTrue(e.getMessage().contains("accepted no bytes"), e.getMessage());
        }
        assertEquals(List.of(), Outputs.names(folder));
    }

    /** Every later call reports the first cause, also a call of an open region. */
    @Test
    void theFirstCauseStays() throws Exception {
        for (Layout layout : Layout.values()) {
            Writer writer = Writer.create(system.path(folder.resolve("first" + layout)), options(layout));
            RegionWriter region = writer.region();
            region.block(1, 0, Outputs.bytes("1234"), 1);
            region.sharedAll();
            system.refuse(0);
            FaroException first = expectIo(region::end);
            assertEquals("refused", root(first).getMessage());
            system.removing(false);
            List<Executable> calls = List.of(
                    () -> writer.write(0, Outputs.bytes("x")), () -> writer.write(7, Outputs.bytes("x")),
                    () -> writer.broadcast(Outputs.bytes("x")), () -> writer.multicast(new int[0], Outputs.bytes("x")),
                    () -> writer.property("a", "b"), writer::flush, writer::region, writer::finish, region::end,
                    region::sharedAll, () -> region.shared(99), () -> region.block(0, Outputs.bytes("x"), 1),
                    () -> region.block(1, 0, Outputs.bytes("x"), 1));
            for (int round = 0; round < 2; round++) {
                for (Executable call : calls) {
                    assertSame(root(first), root(expectIo(call)));
                }
            }
            region.close();
            // Removing fails as well. The abort does not fail, and the files keep their temporary names.
            writer.abort();
            writer.abort();
            writer.close();
            assertTrue(first.getSuppressed()[0].getMessage().contains("remove"), first.getSuppressed()[0].toString());
            for (String left : Outputs.names(folder)) {
                assertTrue(left.endsWith(".01020304.tmp"), left);
                Files.delete(folder.resolve(left));
            }
            assertEquals(ErrorCode.INVALID_ARGUMENT, assertThrows(FaroException.class, writer::flush).code());
            system.removing(true);
        }
    }

    @Test
    void anAbortThatCannotRemoveLeavesTemporaryNames() throws Exception {
        for (Layout layout : Layout.values()) {
            Writer writer = Writer.create(system.path(folder.resolve("left" + layout)), options(layout));
            writer.write(0, Outputs.bytes("x"));
            system.removing(false);
            writer.abort();
            writer.close();
            system.removing(true);
            assertEquals(layout == Layout.SINGLE ? 1 : 2, Outputs.names(folder).size());
            for (String left : Outputs.names(folder)) {
                assertTrue(left.endsWith(".tmp"), left);
                Files.delete(folder.resolve(left));
            }
        }
    }

    @Test
    void aFolderThatVanishes() throws Exception {
        for (Layout layout : Layout.values()) {
            for (Durability durability : Durability.values()) {
                for (boolean follow : new boolean[] {false, true}) {
                    Path gone = Files.createDirectory(folder.resolve("gone"));
                    WriterOptions options = options(layout).durability(durability).follow(follow);
                    try (Writer writer = Writer.create(gone.resolve("x"), options)) {
                        writer.write(1, Outputs.bytes("x"));
                        writer.flush();
                        for (String file : Outputs.names(gone)) {
                            Files.delete(gone.resolve(file));
                        }
                        Files.delete(gone);
                        writer.write(2, Outputs.bytes("y"));
                        if (follow && durability == Durability.NONE) {
                            // Finish does not use the folder any more: the same as if the files were removed after it.
                            writer.finish();
                        } else {
                            FaroException first = expectIo(writer::finish);
                            assertSame(root(first), root(expectIo(writer::finish)));
                        }
                    }
                    assertEquals(List.of(), Outputs.names(folder));
                }
            }
        }
    }

    /** The folder cannot be synced, and the names that could be used to cut the tail lead nowhere. */
    @Test
    void aFolderThatIsMovedAway() throws Exception {
        for (Layout layout : Layout.values()) {
            Path here = Files.createDirectory(folder.resolve("here" + layout));
            Path there = folder.resolve("there" + layout);
            WriterOptions options = options(layout).durability(Durability.COMMIT).follow(true);
            try (Writer writer = Writer.create(here.resolve("x"), options)) {
                writer.write(1, Outputs.bytes("x"));
                writer.flush();
                Files.move(here, there);
                expectIo(writer::finish);
            }
            FaroException e = assertThrows(FaroException.class, () -> Outputs.open(there.resolve("x"), layout));
            assertEquals(ErrorCode.UNFINISHED, e.code(), e.getMessage());
        }
    }

    @Test
    void anInterruptFailsTheWriterAndLeavesNothingFinished() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("interrupted");
            try (Writer writer = Writer.create(name, options(layout).follow(true))) {
                writer.write(1, Outputs.bytes("x"));
                writer.flush();
                Thread.currentThread().interrupt();
                FaroException e = expectIo(writer::finish);
                assertTrue(e.getCause() instanceof ClosedByInterruptException, e.toString());
                assertTrue(Thread.interrupted());
                assertEquals(ErrorCode.UNFINISHED,
                        assertThrows(FaroException.class, () -> Outputs.open(name, layout)).code());
            }
            assertEquals(List.of(), Outputs.names(folder));
        }
    }

    /** A slow attempt that aborts must not remove the output of a faster one. */
    @Test
    void aNameThatBelongsToAnotherFileStays() throws Exception {
        for (Layout layout : Layout.values()) {
            for (boolean failed : new boolean[] {false, true}) {
                Path name = folder.resolve("overtaken" + layout + failed);
                Writer slow = Writer.create(system.path(name), options(layout).follow(true));
                slow.write(1, Outputs.bytes("slow"));
                slow.flush();
                try (Writer quick = Writer.create(name, options(layout).follow(true).overwrite(true))) {
                    quick.write(1, Outputs.bytes("quick"));
                    quick.write(2, Outputs.bytes("quick"));
                    quick.finish();
                }
                if (failed) {
                    system.refuse(0);
                    expectIo(slow::finish);
                    system.refuse(-1);
                }
                slow.abort();
                assertEquals(2, Outputs.check(name, layout).blocks());
            }
        }
    }

    /** The interrupt comes after the tail is written, and is still pending when the tail is cut off. */
    @Test
    void anInterruptInTheLastSyncRemovesTheTail() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("last");
            WriterOptions options = options(layout).follow(true).durability(Durability.COMMIT);
            try (Writer writer = Writer.create(system.path(name), options)) {
                writer.write(1, Outputs.bytes("x"));
                writer.flush();
                // The calls of finish: a pair's data is synced, the index is written and synced.
                system.interrupt(layout == Layout.SINGLE ? 1 : 2);
                FaroException e = expectIo(writer::finish);
                assertTrue(e.getCause() instanceof ClosedByInterruptException, e.toString());
                assertTrue(Thread.interrupted());
                assertEquals(0, e.getSuppressed().length);
                assertEquals(ErrorCode.UNFINISHED,
                        assertThrows(FaroException.class, () -> Outputs.open(name, layout)).code());
            }
            assertEquals(List.of(), Outputs.names(folder));
        }
    }

    /** If the tail cannot be cut off, the whole file is removed. */
    @Test
    void aFileWithATailThatCannotBeCutOffIsRemoved() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("uncut");
            WriterOptions options = options(layout).follow(true).durability(Durability.COMMIT);
            try (Writer writer = Writer.create(system.path(name), options)) {
                writer.write(1, Outputs.bytes("x"));
                writer.flush();
                system.refuse(-1);
                system.refuseFrom(layout == Layout.SINGLE ? 1 : 2);
                FaroException e = expectIo(writer::finish);
                assertTrue(e.expected().contains("sync"), e.getMessage());
                assertEquals(ErrorCode.IO, assertThrows(FaroException.class, () -> Outputs.open(name, layout)).code());
                system.refuse(-1);
            }
            assertEquals(List.of(), Outputs.names(folder));
        }
    }

    /** Making an output fails after its first files were made. */
    @Test
    void creatingFails() throws Exception {
        for (int refused = 0; refused < 2; refused++) {
            system.refuse(refused);
            Path name = system.path(folder.resolve("created"));
            expectIo(() -> Writer.create(name, options(Layout.PAIRED).follow(true)));
            assertEquals(List.of(), Outputs.names(folder));
        }
        Files.createFile(folder.resolve("half.index.01020304.tmp"));
        expectIo(() -> Writer.create(folder.resolve("half"), options(Layout.PAIRED)));
        assertEquals(List.of("half.index.01020304.tmp"), Outputs.names(folder));
    }

    private WeakReference<Writer> abandon() throws FaroException {
        Writer writer = Writer.create(folder.resolve("abandoned"), options(Layout.PAIRED));
        writer.write(1, Outputs.bytes("x"));
        writer.flush();
        return new WeakReference<>(writer);
    }

    /**
     * None of the files is removed, because the names may belong to another writer by then. The JVM closes the
     * descriptors.
     */
    @Test
    void aWriterThatIsNeverClosedLeavesTemporaryNames() throws Exception {
        WeakReference<Writer> abandoned = abandon();
        for (int i = 0; i < 200 && (abandoned.get() != null || Outputs.descriptors(folder) > 0); i++) {
            System.gc();
            Thread.sleep(10);
        }
        assertEquals(0, Outputs.descriptors(folder));
        assertEquals(List.of("abandoned.data.01020304.tmp", "abandoned.index.01020304.tmp"), Outputs.names(folder));
    }
}
