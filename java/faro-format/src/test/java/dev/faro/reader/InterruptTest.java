package dev.faro.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.follow.Follower;
import dev.faro.testing.Outputs;
import dev.faro.testing.RecordingFileSystem;
import dev.faro.testing.Torment;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Threads that are interrupted while they read: their own calls fail, and no others. */
@Timeout(60)
class InterruptTest {
    private static final ReaderOptions NO_CACHE = ReaderOptions.DEFAULT.withCacheBytes(0);
    /** The test ends after this many interrupts that closed the file, or when its time is over. */
    private static final int CLOSED = 300;
    private static final long NANOSECONDS = 1_000_000_000;
    /** On a busy machine, no interrupt may have hit a read by then. */
    private static final long MAX_NANOSECONDS = 20_000_000_000L;

    private final RecordingFileSystem system = new RecordingFileSystem();

    @TempDir
    Path folder;

    private static Reader open(List<Path> files) throws FaroException {
        return files.size() == 1 ? Reader.openSingle(files.get(0), NO_CACHE)
                : Reader.openPair(files.get(0), files.get(1), NO_CACHE);
    }

    private static InterruptedIOException expectInterrupted(Executable call) {
        FaroException e = assertThrows(FaroException.class, call);
        assertEquals(ErrorCode.IO, e.code(), e.getMessage());
        assertTrue(Thread.interrupted(), "the thread stays interrupted");
        return (InterruptedIOException) e.getCause();
    }

    /** Half of the threads are interrupted repeatedly while they read; the others notice nothing. */
    @Test
    void otherThreadsContinueToRead() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("torn" + layout);
            Torment.write(name, layout);
            AtomicBoolean stopped = new AtomicBoolean();
            AtomicInteger closed = new AtomicInteger();
            AtomicInteger finished = new AtomicInteger();
            try (Reader reader = open(Outputs.files(name, layout))) {
                List<List<Long>> expected = Torment.readEach(reader);
                List<Callable<Void>> tasks = new ArrayList<>();
                AtomicReferenceArray<Thread> victims = new AtomicReferenceArray<>(3);
                for (int i = 0; i < victims.length(); i++) {
                    int number = i;
                    tasks.add(() -> {
                        victims.set(number, Thread.currentThread());
                        readInterrupted(reader, expected, stopped, closed);
                        return null;
                    });
                }
                for (int i = 0; i < 3; i++) {
                    Random random = new Random(i);
                    tasks.add(() -> {
                        while (!stopped.get()) {
                            int which = random.nextInt(expected.size());
                            assertEquals(expected.get(which), Torment.readOne(reader, which));
                            finished.incrementAndGet();
                        }
                        return null;
                    });
                }
                tasks.add(() -> {
                    interruptAtRandom(victims, stopped, closed, finished);
                    return null;
                });
                Torment.runAll(tasks);
                assertTrue(closed.get() > 0 && finished.get() > 0, closed + " closed, " + finished + " read");
                assertEquals(expected, Torment.readEach(reader));
            }
        }
    }

    private static void readInterrupted(
            Reader reader, List<List<Long>> expected, AtomicBoolean stopped, AtomicInteger closed)
            throws FaroException {
        Random random = new Random();
        while (!stopped.get()) {
            int which = random.nextInt(expected.size());
            try {
                assertEquals(expected.get(which), Torment.readOne(reader, which));
            } catch (FaroException e) {
                if (!(e.getCause() instanceof InterruptedIOException)) {
                    throw e;
                }
                if (e.getCause().getCause() instanceof ClosedByInterruptException) {
                    closed.incrementAndGet();
                }
            }
            Thread.interrupted();
        }
    }

    private static void interruptAtRandom(
            AtomicReferenceArray<Thread> victims, AtomicBoolean stopped, AtomicInteger closed, AtomicInteger finished)
            throws InterruptedException {
        Random random = new Random();
        long begun = System.nanoTime();
        try {
            long max = NANOSECONDS;
            while (closed.get() < CLOSED && System.nanoTime() - begun < max) {
                max = closed.get() == 0 || finished.get() == 0 ? MAX_NANOSECONDS : NANOSECONDS;
                Thread victim = victims.get(random.nextInt(victims.length()));
                if (victim != null) {
                    victim.interrupt();
                }
                for (int spin = random.nextInt(2000); spin > 0; spin--) {
                    Thread.onSpinWait();
                }
                if (Thread.currentThread().isInterrupted()) {
                    throw new InterruptedException("another task failed");
                }
            }
        } finally {
            stopped.set(true);
        }
    }

    /** Deterministic: the interrupt comes inside each read, one after another, or before any. */
    @Test
    void theInterruptedCallFailsAndTheNextOneReads() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("turn" + layout);
            Outputs.small(name, new WriterOptions(3).layout(layout));
            List<Path> files = Outputs.files(name, layout).stream().map(system::path).toList();
            try (Reader reader = open(files)) {
                String whole = Outputs.contents(reader);
                system.refuseRead(-1);
                Outputs.contents(reader);
                int reads = system.reads();
                assertTrue(reads > 5, reads + " reads");
                for (int i = 0; i < reads; i++) {
                    system.interruptRead(i);
                    InterruptedIOException inside = expectInterrupted(() -> Outputs.contents(reader));
                    assertTrue(inside.getCause() instanceof ClosedByInterruptException);
                    assertEquals(whole, Outputs.contents(reader));
                }
                Thread.currentThread().interrupt();
                assertEquals(null, expectInterrupted(() -> Outputs.contents(reader)).getCause());
                // Nothing was closed, so nothing had to be opened.
                int opened = system.opened();
                assertEquals(whole, Outputs.contents(reader));
                assertEquals(opened, system.opened());
            }
        }
    }

    /** A failed cursor stays failed. Its buffers and the reader serve the next cursor. */
    @Test
    void aCursorThatWasInterruptedStaysFailed() throws Exception {
        Path name = folder.resolve("cursor");
        Torment.write(name, Layout.PAIRED);
        try (Reader reader = open(Outputs.files(name, Layout.PAIRED))) {
            List<Long> expected = Torment.read(reader.all());
            BlockCursor blocks = reader.all();
            assertTrue(blocks.next());
            Thread.currentThread().interrupt();
            FaroException first = assertThrows(FaroException.class, () -> {
                while (blocks.next()) {
                    blocks.payload();
                }
            });
            assertTrue(Thread.interrupted());
            assertEquals(first.getMessage(), assertThrows(FaroException.class, blocks::next).getMessage());
            blocks.close();
            assertEquals(expected, Torment.read(reader.all()));
        }
    }

    /** FOL-2: at the next poll, a follower continues where it was. */
    @Test
    void aFollowerContinues() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("follow" + layout);
            Torment.write(name, layout);
            try (Follower follower = Outputs.follow(name, layout)) {
                Thread.currentThread().interrupt();
                expectInterrupted(follower::poll);
                assertTrue(follower.poll());
                assertEquals(Torment.REGIONS, follower.regionCount());
            }
        }
    }

    /** A file that an interrupt closed is not opened again if another file has its name, or it is gone. */
    @Test
    void aFileThatIsGoneIsNotReplacedByAnother() throws Exception {
        Path name = folder.resolve("gone");
        Outputs.small(name, new WriterOptions(3));
        Path other = folder.resolve("twin");
        Outputs.small(other, new WriterOptions(3));
        List<Path> files = Outputs.files(name, Layout.PAIRED).stream().map(system::path).toList();
        Path data = Outputs.file(name, ".data");
        byte[] bytes = Files.readAllBytes(data);
        try (Reader reader = open(files)) {
            String whole = Outputs.contents(reader);
            // The twin has the same bytes, but its owner may change it: the reader does not know it.
            Files.move(Outputs.file(other, ".data"), data, StandardCopyOption.REPLACE_EXISTING);
            assertEquals(whole, Outputs.contents(reader));
            closeByInterrupt(reader);
            FaroException e = assertThrows(FaroException.class, () -> Outputs.contents(reader));
            assertEquals(ErrorCode.IO, e.code(), e.getMessage());
            assertEquals(FileRole.DATA, e.role());
            Files.delete(data);
            assertEquals(ErrorCode.IO, assertThrows(FaroException.class, () -> Outputs.contents(reader)).code());
        }
        Files.write(data, bytes);
        try (Reader reader = open(files)) {
            closeByInterrupt(reader);
            // The same file, with another header by now.
            byte[] changed = bytes.clone();
            changed[40] ^= 1;
            Files.write(data, changed);
            assertEquals(ErrorCode.IO, assertThrows(FaroException.class, () -> Outputs.contents(reader)).code());
            Files.write(data, bytes);
            Outputs.contents(reader);
        }
    }

    /**
     * Makes an interrupt close the data file's channel: the first read of the second region's message is of the index.
     */
    private void closeByInterrupt(Reader reader) {
        int read = 0;
        String closed = "";
        while (!closed.equals("data")) {
            system.interruptRead(read++);
            FaroException e = assertThrows(FaroException.class, () -> Outputs.contents(reader));
            assertTrue(Thread.interrupted());
            closed = e.role().toString();
        }
    }

    /** A channel of a file that this process writes is lent to the next reader, and to one only. */
    @Test
    void closingAReaderAgainChangesNothing() throws Exception {
        Path name = folder.resolve("again");
        Path file = Outputs.file(name, ".faro");
        try (Writer writer = Writer.create(name, new WriterOptions(1).layout(Layout.SINGLE).follow(true))) {
            writer.write(0, Outputs.bytes("x"));
            writer.flush();
            Follower first = Follower.openSingle(file, ReaderOptions.DEFAULT);
            first.close();
            first.close();
            try (Follower third = thirdOf(file)) {
                String contents = Outputs.contents(third);
                writer.finish();
                Files.delete(file);
                // A channel that another reader had closed would be opened again by the name.
                assertEquals(contents, Outputs.contents(third));
            }
        }
    }

    private static Follower thirdOf(Path file) throws FaroException {
        try (Follower second = Follower.openSingle(file, ReaderOptions.DEFAULT)) {
            Follower third = Follower.openSingle(file, ReaderOptions.DEFAULT);
            second.poll();
            third.poll();
            return third;
        }
    }

    /** Closing the reader on purpose is final, also for threads that read at that moment. */
    @Test
    void aClosedReaderIsNotOpenedAgain() throws Exception {
        for (int round = 0; round < 20; round++) {
            Path name = folder.resolve("closed");
            if (round == 0) {
                Torment.write(name, Layout.SINGLE);
            }
            Reader reader = open(Outputs.files(name, Layout.SINGLE));
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                tasks.add(() -> {
                    FaroException e = assertThrows(FaroException.class, () -> {
                        while (true) {
                            Torment.read(reader.all());
                        }
                    });
                    assertEquals(ErrorCode.IO, e.code(), e.getMessage());
                    assertThrows(FaroException.class, () -> Torment.read(reader.all()));
                    return null;
                });
            }
            int delay = round;
            tasks.add(() -> {
                Thread.sleep(delay);
                reader.close();
                return null;
            });
            Torment.runAll(tasks);
        }
    }
}
