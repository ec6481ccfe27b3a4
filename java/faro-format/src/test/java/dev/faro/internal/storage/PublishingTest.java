package dev.faro.internal.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.follow.Follower;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.testing.OtherProcess;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingFileSystem;
import dev.faro.writer.Durability;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** How files get their names, and how others learn which files are being written (PUB-2 to PUB-6). */
@Timeout(120)
class PublishingTest {
    private final RecordingFileSystem system = new RecordingFileSystem();

    @TempDir
    Path folder;

    private static FaroException expectIo(Executable call) {
        FaroException e = assertThrows(FaroException.class, call);
        assertEquals(ErrorCode.IO, e.code(), e.getMessage());
        return e;
    }

    private static WriterOptions options(Layout layout) {
        return new WriterOptions(2).layout(layout).fileId(new UUID(0x0102030400000000L, 7));
    }

    private Writer begin(String text, WriterOptions options) throws FaroException {
        Writer writer = Writer.create(system.path(folder.resolve("out")), options);
        writer.write(0, Outputs.bytes(text));
        return writer;
    }

    /** The length of the only record tells the outputs of the writers apart. */
    private long visible(Layout layout) throws FaroException {
        try (Reader reader = Outputs.open(folder.resolve("out"), layout)) {
            assertEquals(1, Outputs.readAll(reader));
            return reader.storedBytes(0);
        }
    }

    private void clear() throws Exception {
        for (String name : Outputs.names(folder)) {
            Files.delete(folder.resolve(name));
        }
    }

    /** With and without links: of two writers that finish, the first wins, and the other leaves nothing. */
    @Test
    void withoutOverwriteTheFirstToFinishWins() throws Exception {
        for (Layout layout : Layout.values()) {
            for (boolean links : new boolean[] {true, false}) {
                system.links(links);
                Writer one = begin("one", options(layout));
                Writer two = begin("two, which is longer by a lot than one", options(layout).fileId(new UUID(5, 6)));
                assertEquals(layout == Layout.SINGLE ? 2 : 4, Outputs.names(folder).size());
                one.finish();
                long seen = visible(layout);
                expectIo(two::finish);
                two.abort();
                assertEquals(seen, visible(layout));
                assertEquals(Outputs.files(Path.of("out"), layout).stream().map(Path::toString).toList(),
                        Outputs.names(folder));
                clear();
            }
        }
    }

    @Test
    void namesAreGivenByLinksAndWithoutThemUnderTheLock() throws Exception {
        for (boolean links : new boolean[] {true, false}) {
            system.links(links);
            Writer writer = begin("text", options(Layout.PAIRED));
            system.refuse(-1);
            boolean[] locked = {false};
            system.before(links ? "link to out.index" : "rename to out.index",
                    () -> locked[0] = Outputs.names(folder).contains("out.faro-lock"));
            writer.finish();
            List<String> calls = system.calls().stream().filter(call -> call.contains(" to ")).toList();
            String step = links ? "link to " : "rename to ";
            assertEquals(List.of(step + "out.data", step + "out.index"), calls);
            assertEquals(!links, locked[0]);
            assertEquals(List.of("out.data", "out.index"), Outputs.names(folder));
            clear();
        }
    }

    /** The messages of a system without links, and of one where a link failed. */
    @Test
    void aFailedLinkIsNotALackOfLinks() throws Exception {
        for (Layout layout : Layout.values()) {
            system.refuseLinks("Operation not permitted");
            begin("text", options(layout)).finish();
            visible(layout);
            clear();
            system.refuseLinks("Input/output error");
            Writer writer = begin("text", options(layout));
            assertTrue(expectIo(writer::finish).getMessage().contains("Input/output error"));
            writer.close();
            assertEquals(List.of(), Outputs.names(folder));
            system.refuseLinks(null);
        }
    }

    /** Another file takes the name of the index between the two steps. */
    @Test
    void theDataFileIsTakenBackWhenTheIndexIsRefused() throws Exception {
        Path data = folder.resolve("out.data");
        Path index = folder.resolve("out.index");
        for (boolean replaced : new boolean[] {false, true}) {
            Writer writer = begin("text", options(Layout.PAIRED));
            system.before("link to out.index", () -> {
                assertTrue(Files.exists(data));
                Files.writeString(index, "another's");
                if (replaced) {
                    Files.delete(data);
                    Files.writeString(data, "another's");
                }
            });
            expectIo(writer::finish);
            assertEquals("another's", Files.readString(index));
            assertEquals(replaced, Files.exists(data));
            writer.close();
            assertEquals(replaced ? List.of("out.data", "out.index") : List.of("out.index"), Outputs.names(folder));
            clear();
        }
    }

    @Test
    void aPairIsReplacedUnderTheLockAndASingleFileInOneStep() throws Exception {
        for (Layout layout : Layout.values()) {
            Outputs.small(folder.resolve("out"), new WriterOptions(3).layout(layout));
            Writer writer = begin("text", options(layout).overwrite(true));
            List<Boolean> locked = new ArrayList<>();
            String last = layout == Layout.SINGLE ? "out.faro" : "out.index";
            system.before("rename to " + last,
                    () -> locked.add(Outputs.names(folder).contains("out.faro-lock")));
            writer.finish();
            assertEquals(List.of(layout == Layout.PAIRED), locked);
            visible(layout);
            assertEquals(Outputs.files(Path.of("out"), layout).size(), Outputs.names(folder).size());
            clear();
        }
    }

    /** While another has the lock, a followed writer removes neither older files nor its own (PUB-4). */
    @Test
    void followedFilesAreReplacedAndRemovedUnderTheLock() throws Exception {
        try (OtherProcess other = OtherProcess.start()) {
            for (Layout layout : Layout.values()) {
                Outputs.small(folder.resolve("out"), new WriterOptions(3).layout(layout));
                assertEquals("held", other.ask("hold", folder.resolve("out.faro-lock")));
                Thread creates = new Thread(() -> {
                    try {
                        begin("text", options(layout).follow(true).overwrite(true)).abort();
                    } catch (FaroException e) {
                        throw new IllegalStateException(e);
                    }
                });
                creates.start();
                awaitSleep(creates);
                Outputs.check(folder.resolve("out"), layout);
                assertEquals("released", other.ask("release", folder));
                creates.join();
                assertEquals(List.of(), Outputs.names(folder).stream().filter(n -> !n.endsWith("lock")).toList());
                clear();
                Writer writer = begin("text", options(layout).follow(true));
                List<String> files = Outputs.names(folder);
                assertEquals("held", other.ask("hold", folder.resolve("out.faro-lock")));
                Thread aborts = new Thread(writer::abort);
                aborts.start();
                awaitSleep(aborts);
                assertTrue(Outputs.names(folder).containsAll(files));
                assertEquals("released", other.ask("release", folder));
                aborts.join();
                clear();
            }
        }
    }

    private static void awaitSleep(Thread thread) {
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            assertTrue(thread.isAlive(), "it waits for the lock");
            Thread.onSpinWait();
        }
    }

    private static List<String> probe(OtherProcess other, Path folder) throws Exception {
        List<String> answers = new ArrayList<>();
        for (String name : Outputs.names(folder)) {
            answers.add(other.ask("probe", folder.resolve(name)));
        }
        return answers;
    }

    /**
     * PUB-6: files are locked until finish returns, so until both have their names; even if this process reads them.
     */
    @Test
    void filesAreLockedUntilTheWriterEnds() throws Exception {
        try (OtherProcess other = OtherProcess.start()) {
            for (Layout layout : Layout.values()) {
                for (boolean follow : new boolean[] {true, false}) {
                    for (boolean finish : new boolean[] {true, false}) {
                        Writer writer = begin("text", options(layout).follow(follow).durability(Durability.COMMIT));
                        writer.flush();
                        List<String> locked = layout == Layout.SINGLE ? List.of("locked") : List.of("locked", "locked");
                        assertEquals(locked, probe(other, folder));
                        if (follow) {
                            try (Follower follower = Outputs.follow(folder.resolve("out"), layout)) {
                                follower.poll();
                                assertEquals(1, Outputs.readAll(follower));
                            }
                            assertThrows(FaroException.class, () -> Outputs.open(folder.resolve("out"), layout));
                            assertEquals(locked, probe(other, folder));
                        }
                        if (finish) {
                            List<String> named = new ArrayList<>();
                            system.before("sync " + folder.getFileName(), () -> {
                                try {
                                    named.addAll(probe(other, folder));
                                } catch (Exception e) {
                                    throw new IllegalStateException(e);
                                }
                            });
                            writer.finish();
                            assertEquals(locked, named);
                            assertFalse(probe(other, folder).contains("locked"));
                            visible(layout);
                        } else {
                            writer.abort();
                            assertEquals(List.of(), Outputs.names(folder));
                        }
                        clear();
                    }
                }
            }
        }
    }

    @Test
    void aWriterWorksWithoutRecordLocks() throws Exception {
        system.locks(false);
        for (Layout layout : Layout.values()) {
            for (boolean follow : new boolean[] {true, false}) {
                begin("text", options(layout).follow(follow)).finish();
                begin("longer text", options(layout).follow(follow).overwrite(true)).finish();
                visible(layout);
                assertEquals(Outputs.files(Path.of("out"), layout).size(), Outputs.names(folder).size());
                clear();
            }
        }
    }

    /** The claims of a lost writer are released once the garbage collector finds that it is unreachable. */
    @Test
    void filesOfALostWriterAreReleased() throws Exception {
        begin("lost", options(Layout.PAIRED));
        List<String> files = Outputs.names(folder);
        assertEquals(2, files.size());
        for (int i = 0; i < 500 && isHeld(); i++) {
            System.gc();
            Thread.sleep(10);
            begin("asks", options(Layout.SINGLE)).abort();
        }
        assertFalse(isHeld());
        assertEquals(files, Outputs.names(folder));
    }

    private static boolean isHeld() {
        return System.getProperties().stringPropertyNames().stream().anyMatch(key -> key.startsWith("dev.faro.held."));
    }

    @Test
    void endedWritersHoldNothing() throws Exception {
        for (Layout layout : Layout.values()) {
            for (boolean follow : new boolean[] {true, false}) {
                begin("text", options(layout).follow(follow)).finish();
                expectIo(() -> begin("text", options(layout).follow(follow)));
                begin("text", options(layout).follow(follow).overwrite(true)).finish();
                begin("text", options(layout).follow(follow).overwrite(true)).abort();
                Writer failed = begin("text", options(layout).follow(follow).overwrite(true));
                Thread.currentThread().interrupt();
                expectIo(failed::finish);
                failed.abort();
                assertTrue(Thread.interrupted());
                assertFalse(isHeld(), System.getProperties().toString());
                clear();
            }
        }
    }

    @Test
    void readersOfAFileThatIsWrittenHereUseFewDescriptors() throws Exception {
        Path descriptors = Path.of("/proc/self/fd");
        assumeTrue(Files.exists(descriptors));
        Path name = folder.resolve("again");
        WriterOptions options = new WriterOptions(1).layout(Layout.SINGLE).follow(true);
        try (Writer writer = Writer.create(name, options)) {
            writer.write(0, Outputs.bytes("a"));
            writer.flush();
            long before = count(descriptors);
            for (int i = 0; i < 500; i++) {
                assertThrows(FaroException.class, () -> Reader.open(name, ReaderOptions.DEFAULT).close());
            }
            assertTrue(count(descriptors) < before + 50, before + " before, " + count(descriptors) + " after");
            writer.finish();
        }
        Reader.open(name, ReaderOptions.DEFAULT).close();
    }

    private static long count(Path descriptors) throws IOException {
        try (var entries = Files.list(descriptors)) {
            return entries.count();
        }
    }
}
