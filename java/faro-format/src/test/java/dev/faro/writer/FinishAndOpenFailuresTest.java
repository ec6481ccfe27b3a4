package dev.faro.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingFileSystem;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is refused or interrupted in {@link Writer#finishAndOpen} or afterwards. */
class FinishAndOpenFailuresTest {
    private static final ReaderOptions NO_CACHE = ReaderOptions.DEFAULT.withCacheBytes(0);

    private final RecordingFileSystem system = new RecordingFileSystem();

    @TempDir
    Path folder;

    private static WriterOptions options(Layout layout, boolean follow) {
        return new WriterOptions(2).layout(layout).follow(follow).durability(Durability.COMMIT)
                .fileId(new UUID(0x0102030400000000L, 0));
    }

    private Writer begin(Path name, WriterOptions options) throws FaroException {
        Writer writer = Writer.create(system.path(name), options);
        writer.write(0, Outputs.bytes("one"));
        writer.flush();
        writer.write(1, Outputs.bytes("two"));
        return writer;
    }

    /** Whichever call is refused: nothing stays open, and no file looks finished. */
    @Test
    void everyRefusedCallLeavesNothingOpen() throws Exception {
        for (Layout layout : Layout.values()) {
            for (boolean follow : new boolean[] {false, true}) {
                int failures = 0;
                while (fails(layout, follow, failures)) {
                    failures++;
                }
                assertTrue(failures >= 6, failures + " calls");
            }
        }
    }

    private boolean fails(Layout layout, boolean follow, int refused) throws Exception {
        Path name = folder.resolve("refused");
        try (Writer writer = begin(name, options(layout, follow))) {
            system.refuse(refused);
            Finished finished = writer.finishAndOpen(ReaderOptions.DEFAULT);
            finished.reader().close();
            assertTrue(system.calls().size() <= refused, "call " + refused + " failed without an error");
            removeAll();
            return false;
        } catch (FaroException e) {
            assertEquals(ErrorCode.IO, e.code());
            assertEquals(List.of(), Outputs.names(folder));
            assertEquals(0, Outputs.descriptors(folder));
            return true;
        } finally {
            system.refuse(-1);
        }
    }

    private void removeAll() throws IOException {
        for (String file : Outputs.names(folder)) {
            Files.delete(folder.resolve(file));
        }
    }

    /** A file that keeps its lock would seem to be a living writer's. */
    @Test
    void aLockThatCannotBeReleased() throws Exception {
        for (Layout layout : Layout.values()) {
            for (boolean follow : new boolean[] {false, true}) {
                for (int refused = 0; refused < Outputs.files(folder, layout).size(); refused++) {
                    Path name = folder.resolve("kept");
                    int[] left = {refused};
                    try (Writer writer = begin(name, options(layout, follow))) {
                        system.hook(call -> {
                            if (left[0]-- == 0) {
                                throw new IOException("refused");
                            }
                        });
                        FaroException e =
                                assertThrows(FaroException.class, () -> writer.finishAndOpen(ReaderOptions.DEFAULT));
                        assertTrue(e.getMessage().contains("to release the lock"), e.getMessage());
                        assertThrows(FaroException.class, () -> Outputs.open(name, layout));
                        system.hook(call -> {});
                    }
                    assertEquals(List.of(), Outputs.names(folder));
                    assertEquals(0, Outputs.descriptors(folder));
                }
            }
        }
    }

    /** The interrupt comes before each call in turn, and before none. */
    @Test
    void interruptsLeaveNothingOpen() throws Exception {
        for (Layout layout : Layout.values()) {
            int succeeded = 0;
            int failed = 0;
            for (int i = 0; i < 12; i++) {
                Path name = folder.resolve("interrupted");
                try (Writer writer = begin(name, options(layout, false))) {
                    system.interruptBefore(i);
                    Finished finished = writer.finishAndOpen(NO_CACHE);
                    // The reader's calls fail only while the thread is interrupted.
                    if (Thread.currentThread().isInterrupted()) {
                        FaroException e = assertThrows(FaroException.class, () -> Outputs.contents(finished.reader()));
                        assertTrue(e.getCause() instanceof InterruptedIOException, e.toString());
                    }
                    assertTrue(Thread.interrupted() || i >= system.calls().size());
                    assertEquals(2, Outputs.readAll(finished.reader()));
                    finished.reader().close();
                    removeAll();
                    succeeded++;
                } catch (FaroException e) {
                    assertEquals(ErrorCode.IO, e.code(), e.getMessage());
                    assertTrue(Thread.interrupted());
                    failed++;
                }
                system.refuse(-1);
                assertEquals(List.of(), Outputs.names(folder));
                assertEquals(0, Outputs.descriptors(folder));
            }
            assertTrue(succeeded > 0 && failed > 3, succeeded + " succeeded, " + failed + " failed");
        }
    }

    /** After an interrupt inside a read, the file is opened again by its final name. */
    @Test
    void anInterruptedReadFailsAndTheNextOneReads() throws Exception {
        for (Layout layout : Layout.values()) {
            for (boolean follow : new boolean[] {false, true}) {
                Path name = folder.resolve("turn" + layout + follow);
                try (Writer writer = begin(name, options(layout, follow));
                        Reader reader = writer.finishAndOpen(NO_CACHE).reader()) {
                    String whole = Outputs.contents(reader);
                    system.refuseRead(-1);
                    Outputs.contents(reader);
                    int reads = system.reads();
                    assertTrue(reads > 4, reads + " reads");
                    for (int i = 0; i < reads; i++) {
                        system.interruptRead(i);
                        FaroException e = assertThrows(FaroException.class, () -> Outputs.contents(reader));
                        assertTrue(Thread.interrupted());
                        assertTrue(e.getCause().getCause() instanceof ClosedByInterruptException, e.toString());
                        assertEquals(whole, Outputs.contents(reader));
                    }
                }
                assertEquals(0, Outputs.descriptors(folder));
            }
        }
    }

    /** The header shows that the name belongs to another file, as in other local files. */
    @Test
    void afterAnInterruptAnotherFileIsNotRead() throws Exception {
        for (boolean sameFile : new boolean[] {false, true}) {
            Path name = folder.resolve("other" + sameFile);
            Path file = Outputs.file(name, ".faro");
            try (Writer writer = begin(name, options(Layout.SINGLE, false));
                    Reader reader = writer.finishAndOpen(NO_CACHE).reader()) {
                byte[] bytes = Files.readAllBytes(file);
                if (sameFile) {
                    // The same file with another header. Nothing of it was read so far.
                    byte[] changed = bytes.clone();
                    changed[40] ^= 1;
                    Files.write(file, changed);
                } else {
                    Path twin = Files.write(folder.resolve("twin"), bytes);
                    Files.move(twin, file, StandardCopyOption.REPLACE_EXISTING);
                }
                system.interruptRead(0);
                assertThrows(FaroException.class, () -> Outputs.contents(reader));
                assertTrue(Thread.interrupted());
                FaroException e = assertThrows(FaroException.class, () -> Outputs.contents(reader));
                assertEquals(ErrorCode.IO, e.code(), e.getMessage());
                assertTrue(e.getMessage().contains("now belongs to another one"), e.getMessage());
            }
            assertEquals(0, Outputs.descriptors(folder));
        }
    }
}
