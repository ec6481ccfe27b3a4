package dev.faro.writer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.codec.Codec;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.storage.Destination;
import dev.faro.storage.MemoryDestination;
import dev.faro.storage.MemoryFile;
import dev.faro.storage.NewFile;
import dev.faro.storage.StoredFile;
import dev.faro.testing.Outputs;
import dev.faro.testing.Script;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Writing to a {@link Destination}. */
class WriterInStorageTest {
    @TempDir
    Path folder;

    private static byte[] bytes(StoredFile file) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) file.size());
        while (bytes.hasRemaining() && file.read(bytes.position(), bytes) > 0) {
            // A file in memory needs one read.
        }
        return bytes.array();
    }

    private static FileRole role(Layout layout, int i) {
        return OutputFiles.roles(layout).get(i);
    }

    @Test
    void theBytesAreThoseOfLocalFiles() throws Exception {
        for (long seed = 1; seed <= 200; seed++) {
            String what = "seed " + seed;
            Durability durability = Durability.values()[(int) (seed % 2)];
            MemoryDestination destination = new MemoryDestination("m" + seed);
            Script script = new Script(seed);
            Summary summary;
            try (Writer writer = Writer.createIn(destination, script.options.follow(false).durability(durability))) {
                script.run(writer, 60);
                Finished finished = writer.finishAndOpen(ReaderOptions.DEFAULT);
                summary = finished.summary();
                for (int p = script.first; p < script.first + script.partitions; p++) {
                    assertEquals(script.expected(p), script.read(finished.reader(), p), what);
                }
                finished.reader().close();
            }
            Script same = new Script(seed);
            Path name = folder.resolve("m" + seed);
            try (Writer writer = Writer.create(name, same.options.follow(false).durability(durability))) {
                same.run(writer, 60);
                writer.finish();
            }
            assertEquals(List.of(), summary.files(), what);
            assertEquals(script.layout, summary.layout(), what);
            for (int i = 0; i < Outputs.files(name, script.layout).size(); i++) {
                MemoryFile file = destination.find(role(script.layout, i)).orElseThrow();
                assertArrayEquals(Files.readAllBytes(Outputs.files(name, script.layout).get(i)), bytes(file), what);
                assertEquals(summary.names().get(i), file.name());
            }
        }
    }

    /** Passes calls on, or fails one of them. Reads of opened files do not count, but show. */
    private static final class Failing implements Destination {
        final MemoryDestination memory = new MemoryDestination("failing");
        final List<String> calls = new ArrayList<>();
        int failing = -1;
        int open;
        int reads;

        private void call(String name) throws IOException {
            calls.add(name);
            if (calls.size() - 1 == failing) {
                throw new IOException("call " + failing + " failed");
            }
        }

        @Override
        public NewFile create(FileRole role) throws IOException {
            call("create " + role);
            NewFile file = memory.create(role);
            open++;
            return new NewFile() {
                private boolean closed;

                @Override
                public String name() {
                    return file.name();
                }

                @Override
                public void append(ByteBuffer bytes) throws IOException {
                    call("append");
                    file.append(bytes);
                }

                @Override
                public void sync() throws IOException {
                    call("sync");
                    file.sync();
                }

                @Override
                public void publish(boolean replace) throws IOException {
                    call("publish");
                    file.publish(replace);
                }

                @Override
                public void remove() throws IOException {
                    // A failure to remove a file cannot leave nothing.
                    calls.add("remove");
                    file.remove();
                }

                @Override
                public StoredFile open() throws IOException {
                    call("open");
                    StoredFile opened = file.open();
                    open++;
                    return new Counted(opened);
                }

                @Override
                public void close() throws IOException {
                    open -= closed ? 0 : 1;
                    closed = true;
                    file.close();
                    call("close");
                }
            };
        }

        private final class Counted implements StoredFile {
            private final StoredFile file;
            private boolean closed;

            Counted(StoredFile file) {
                this.file = file;
            }

            @Override
            public long size() throws IOException {
                reads++;
                return file.size();
            }

            @Override
            public int read(long offset, ByteBuffer target) throws IOException {
                reads++;
                return file.read(offset, target);
            }

            @Override
            public String name() {
                return file.name();
            }

            @Override
            public void close() {
                open -= closed ? 0 : 1;
                closed = true;
            }
        }
    }

    private static WriterOptions options(Layout layout, Durability durability) {
        WriterOptions options = new WriterOptions(2).durability(durability).codec(Codec.LZ4).bufferSize(200_000);
        return layout == null ? options.singleBelow(100) : options.layout(layout);
    }

    private static void write(Writer writer) throws FaroException {
        writer.write(0, Outputs.bytes("one"));
        writer.flush();
        for (int i = 0; i < 3000; i++) {
            writer.write(i % 2, Outputs.bytes("two " + i * 7919L * i + " " + i * 31L * i * i * i + " and more " + i));
        }
        try (RegionWriter region = writer.region()) {
            region.block(1, 0, Outputs.bytes("given up"), 1);
        }
        try (RegionWriter region = writer.region()) {
            region.block(1, 64, Outputs.bytes("kept"), 1);
            region.end();
        }
    }

    /** Whatever fails, the writer has failed, nothing is published, and everything is closed. */
    @Test
    void everyFailureLeavesNothing() throws Exception {
        for (Layout layout : new Layout[] {Layout.PAIRED, Layout.SINGLE, null}) {
            for (Durability durability : Durability.values()) {
                int failing = 0;
                while (failsAndLeavesNothing(failing, options(layout, durability))) {
                    failing++;
                }
                assertTrue(failing >= 8, layout + " " + durability + ": " + failing + " calls");
            }
        }
    }

    private static boolean failsAndLeavesNothing(int failing, WriterOptions options) throws Exception {
        Failing destination = new Failing();
        destination.failing = failing;
        Writer writer = null;
        FaroException first = null;
        try {
            writer = Writer.createIn(destination, options);
            write(writer);
            writer.finishAndOpen(ReaderOptions.DEFAULT).reader().close();
        } catch (FaroException e) {
            first = e;
        }
        if (first == null) {
            assertTrue(destination.calls.size() <= failing, destination.calls.toString());
            destination.memory.output();
            assertEquals(0, destination.open);
            return false;
        }
        String where = destination.calls.get(failing) + ", " + failing;
        assertEquals(ErrorCode.IO, first.code(), where);
        if (destination.calls.get(failing).startsWith("open") || destination.calls.get(failing).startsWith("close")) {
            // The output was published, and stays.
            assertTrue(first.getMessage().contains("published"), where);
            assertTrue(first.fileName() != null && first.getMessage().contains(first.fileName()), first.getMessage());
            assertEquals(ErrorCode.INVALID_ARGUMENT, assertThrows(FaroException.class, writer::finish).code(), where);
            writer.close();
            Reader.openStored(destination.memory.output(), ReaderOptions.DEFAULT).close();
            assertEquals(0, destination.open, where);
            return true;
        }
        if (writer != null) {
            Writer failed = writer;
            assertEquals(first.getMessage(), assertThrows(FaroException.class, failed::finish).getMessage(), where);
            for (FileRole role : FileRole.OF_OUTPUTS) {
                assertTrue(destination.memory.find(role).isEmpty(), where);
            }
            writer.close();
        }
        for (FileRole role : FileRole.OF_OUTPUTS) {
            assertTrue(destination.memory.find(role).isEmpty(), where);
        }
        assertEquals(0, destination.open, where);
        return true;
    }

    @Test
    void finishAndOpenReadsNothing() throws Exception {
        for (Layout layout : Layout.values()) {
            Failing destination = new Failing();
            try (Writer writer = Writer.createIn(destination, options(layout, Durability.NONE))) {
                write(writer);
                try (Reader reader = writer.finishAndOpen(ReaderOptions.DEFAULT).reader()) {
                    assertEquals(0, destination.reads);
                    assertEquals(2, Check.check(reader, CheckLevel.DECODE).regions() - 1);
                    assertTrue(destination.reads > 0);
                }
            }
            assertEquals(0, destination.open);
        }
    }

    @Test
    void dataIsPublishedFirst() throws Exception {
        Failing destination = new Failing();
        try (Writer writer = Writer.createIn(destination, options(Layout.PAIRED, Durability.COMMIT))) {
            assertEquals(List.of("create data", "create index"), destination.calls);
            writer.write(0, Outputs.bytes("x"));
            writer.finish();
        }
        assertEquals(List.of("append", "sync", "append", "sync", "append", "sync", "publish", "publish", "close",
                "close"), collapsed(destination.calls.subList(2, 12)));
    }

    /** Between the syncs of the region and of the end, a file may have nothing more to append. */
    private static List<String> collapsed(List<String> calls) {
        List<String> all = new ArrayList<>(calls);
        if (all.get(4).equals("sync")) {
            all.remove(4);
            all.add("close");
        }
        return all;
    }

    @Test
    void existingNames() throws Exception {
        MemoryDestination destination = new MemoryDestination("m");
        WriterOptions options = options(Layout.PAIRED, Durability.NONE);
        byte[] before;
        try (Writer first = Writer.createIn(destination, options.fileId(new UUID(1, 1)));
                Writer second = Writer.createIn(destination, options.fileId(new UUID(2, 2)))) {
            first.finish();
            before = bytes(destination.output().data());
            FaroException e = assertThrows(FaroException.class, second::finish);
            assertEquals(ErrorCode.IO, e.code());
            assertEquals("m.data", e.fileName());
            assertTrue(e.getMessage().contains("no file with that name, or the option overwrite"), e.getMessage());
        }
        assertArrayEquals(before, bytes(destination.output().data()));
        try (Writer third = Writer.createIn(destination, options.fileId(new UUID(3, 3)).overwrite(true))) {
            third.finish();
        }
        assertFalse(java.util.Arrays.equals(before, bytes(destination.output().data())));
    }

    /** The index is refused after the data file was published. */
    @Test
    void aRefusedIndexTakesTheDataBack() throws Exception {
        MemoryDestination destination = new MemoryDestination("m");
        NewFile index = destination.create(FileRole.INDEX);
        try (Writer writer = Writer.createIn(destination, options(Layout.PAIRED, Durability.NONE))) {
            index.publish(false);
            assertEquals("m.index", assertThrows(FaroException.class, writer::finish).fileName());
            assertTrue(destination.find(FileRole.DATA).isEmpty());
        }
        assertTrue(destination.find(FileRole.INDEX).isPresent());
    }

    /** A storage that knows its names refuses them before anything is written (WRT-4). */
    @Test
    void takenNamesAreRefusedAtOnce() throws Exception {
        for (FileRole role : FileRole.OF_OUTPUTS) {
            MemoryDestination destination = new MemoryDestination("m");
            destination.create(role).publish(false);
            String name = destination.find(role).orElseThrow().name();
            for (Layout layout : Layout.values()) {
                WriterOptions options = options(layout, Durability.NONE);
                if (OutputFiles.roles(layout).contains(role)) {
                    assertTaken(name, role, () -> Writer.createIn(destination, options));
                    Writer.createIn(destination, options.overwrite(true)).abort();
                } else {
                    Writer.createIn(destination, options).abort();
                }
            }
            assertTaken(name, role, () -> Writer.createIn(destination, new WriterOptions(2).singleBelow(100)));
            assertTrue(destination.find(role).isPresent());
        }
    }

    private static void assertTaken(String name, FileRole role, Executable call) {
        FaroException e = assertThrows(FaroException.class, call);
        assertEquals(ErrorCode.IO, e.code());
        assertEquals(name, e.fileName());
        assertEquals(role, e.role());
        assertTrue(e.getMessage().contains("no file with that name, or the option overwrite"), e.getMessage());
    }

    /** With singleBelow, the names of both layouts must be free when the layout is decided (WRT-13). */
    @Test
    void bothLayoutsMustBeFree() throws Exception {
        for (FileRole role : FileRole.OF_OUTPUTS) {
            for (boolean single : new boolean[] {true, false}) {
                MemoryDestination destination = new MemoryDestination("m");
                try (Writer writer = Writer.createIn(destination, new WriterOptions(2).singleBelow(100))) {
                    writer.write(0, Outputs.bytes("x"));
                    destination.create(role).publish(false);
                    String name = destination.find(role).orElseThrow().name();
                    assertTaken(name, role, single ? writer::finish : writer::flush);
                }
                for (FileRole other : FileRole.OF_OUTPUTS) {
                    assertEquals(other == role, destination.find(other).isPresent());
                }
            }
        }
    }

    /** A name of the other layout that appears after the layout was decided is seen when the files are published. */
    @Test
    void theOtherLayoutIsLookedForAtTheEnd() throws Exception {
        MemoryDestination destination = new MemoryDestination("m");
        try (Writer writer = Writer.createIn(destination, new WriterOptions(2).singleBelow(100))) {
            writer.write(0, Outputs.bytes("x"));
            writer.flush();
            destination.create(FileRole.SINGLE).publish(false);
            assertTaken("m.faro", FileRole.SINGLE, writer::finish);
        }
        assertTrue(destination.find(FileRole.DATA).isEmpty());
        assertTrue(destination.find(FileRole.INDEX).isEmpty());
    }

    @Test
    void aStorageThatCannotTell() {
        for (boolean fails : new boolean[] {true, false}) {
            Destination destination = new Destination() {
                @Override
                public NewFile create(FileRole role) {
                    throw new AssertionError("nothing is created");
                }

                @Override
                public Optional<String> taken(FileRole role) throws IOException {
                    if (fails) {
                        throw new IOException("no answer");
                    }
                    return null;
                }
            };
            FaroException e = assertThrows(FaroException.class,
                    () -> Writer.createIn(destination, options(Layout.PAIRED, Durability.NONE)));
            assertEquals(ErrorCode.IO, e.code());
            assertEquals(FileRole.DATA, e.role());
        }
    }

    @Test
    void followIsRefused() {
        FaroException e = assertThrows(FaroException.class, () -> Writer.createIn(
                new MemoryDestination("m"), options(Layout.PAIRED, Durability.NONE).follow(true)));
        assertEquals(ErrorCode.INVALID_ARGUMENT, e.code());
        assertTrue(e.getMessage().contains("a local file"), e.getMessage());
    }

    @Test
    void aDestinationWithoutFiles() {
        FaroException e = assertThrows(FaroException.class,
                () -> Writer.createIn(role -> null, options(Layout.SINGLE, Durability.NONE)));
        assertEquals(ErrorCode.IO, e.code());
        assertEquals(FileRole.SINGLE, e.role());
    }

    /** A storage that decides early whether a file may replace another learns it from the writer. */
    @Test
    void theStorageKnowsFromTheBeginningWhetherToReplace() throws Exception {
        for (boolean overwrite : new boolean[] {false, true}) {
            List<Boolean> told = new ArrayList<>();
            MemoryDestination memory = new MemoryDestination("early");
            Destination early = new Destination() {
                @Override
                public NewFile create(FileRole role) throws IOException {
                    throw new IOException("not this one");
                }

                @Override
                public NewFile create(FileRole role, boolean replace) {
                    told.add(replace);
                    return memory.create(role);
                }
            };
            try (Writer writer = Writer.createIn(early, new WriterOptions(1).overwrite(overwrite))) {
                writer.finish();
            }
            assertEquals(List.of(overwrite, overwrite), told);
        }
    }

    /** Framing opaque, records without bytes: the dictionary waits, and no byte of it has to be taken back. */
    @Test
    void aDictionaryBeforeARegionThatLeavesNothing() throws Exception {
        byte[] dictionary = new byte[1 << 20];
        ByteBuffer.wrap(dictionary).put(new byte[] {0x37, (byte) 0xA4, 0x30, (byte) 0xEC});
        byte[] other = dictionary.clone();
        other[100] = 1;
        MemoryDestination destination = new MemoryDestination("m");
        WriterOptions options = new WriterOptions(2).framing(dev.faro.Framing.OPAQUE).dictionaries(true);
        try (Writer writer = Writer.createIn(destination, options)) {
            writer.dictionary(dictionary);
            writer.dictionary(other);
            writer.write(0, ByteBuffer.allocate(0));
            writer.flush();
            writer.write(1, Outputs.bytes("x"));
            Reader reader = writer.finishAndOpen(ReaderOptions.DEFAULT).reader();
            assertEquals(2, reader.dictionaryCount());
            assertEquals(1, Check.check(reader, CheckLevel.DECODE).regions());
            reader.close();
        }
    }
}
