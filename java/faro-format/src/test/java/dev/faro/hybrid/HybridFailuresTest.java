package dev.faro.hybrid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.internal.storage.OutputName;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A hybrid store that fails: a consumer that waits learns it, the memory is free, and other stores go on (HYB-8). */
class HybridFailuresTest {
    /** How often threads meet in each mode. */
    private static final int MEETINGS = 4 * Integer.getInteger("faro.interleavings", 500);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(HybridMode.class)
    void aFailedSpillIsToldToEveryone(HybridMode mode) throws Exception {
        HybridMemory memory = new HybridMemory(0);
        List<String> woken = new ArrayList<>();
        Path name = folder.resolve("gone").resolve("s");
        try (HybridStore store = HybridStore.create(name, new WriterOptions(2), new HybridOptions(memory, mode))) {
            HybridConsumer consumer = store.open(0, () -> woken.add("woken"));
            assertFalse(consumer.next());
            store.write(0, ByteBuffer.wrap(new byte[100]));
            FaroException failure = assertThrows(FaroException.class, store::flush);
            assertEquals(ErrorCode.IO, failure.code());
            assertEquals(List.of("woken"), woken);
            assertEquals(ErrorCode.IO, assertThrows(FaroException.class, consumer::next).code());
            assertThrows(FaroException.class, () -> store.write(0, ByteBuffer.wrap(new byte[100])));
            assertThrows(FaroException.class, store::finish);
            assertEquals(0, memory.used());
        }
    }

    @Test
    void aConsumerThatWaitsIsToldWhenTheFilesCannotBeFinished() throws Exception {
        List<String> woken = new ArrayList<>();
        HybridOptions options = new HybridOptions(new HybridMemory(1 << 20), HybridMode.FULL);
        Path name = folder.resolve("gone").resolve("s");
        try (HybridStore store = HybridStore.create(name, new WriterOptions(2), options)) {
            HybridConsumer consumer = store.open(0, () -> woken.add("woken"));
            assertFalse(consumer.next());
            assertEquals(ErrorCode.IO, assertThrows(FaroException.class, store::finish).code());
            assertEquals(List.of("woken"), woken);
            assertEquals(ErrorCode.IO, assertThrows(FaroException.class, consumer::next).code());
        }
    }

    /** What a finished store has written already leaves the memory without work, which an executor may refuse. */
    @Test
    void aFinishedStoreIsNotAskedToWriteAgain() throws Exception {
        HybridMemory memory = new HybridMemory(4000);
        boolean[] refuses = {false};
        HybridOptions options = new HybridOptions(memory, HybridMode.FULL).executor(work -> {
            if (refuses[0]) {
                throw new RejectedExecutionException("no more work");
            }
            work.run();
        });
        ByteBuffer record = ByteBuffer.wrap(new byte[2000]);
        HybridStore finished = HybridStore.create(folder.resolve("finished"), new WriterOptions(2), options);
        finished.write(0, record);
        finished.finish();
        assertTrue(memory.used() > 2000);
        refuses[0] = true;
        HybridStore other = HybridStore.create(
                folder.resolve("other"), new WriterOptions(2), new HybridOptions(memory, HybridMode.SELECTIVE));
        other.write(0, record);
        other.flush();
        finished.close();
        other.release();
        assertEquals(0, memory.used());
        try (Reader reader = Reader.open(folder.resolve("finished"), ReaderOptions.DEFAULT)) {
            assertEquals(1, reader.regionCount());
        }
    }

    /** A consumer may count the failure among the changes that it has seen. */
    @Test
    void noOneWaitsForAFailedImage() throws Exception {
        Image image = new Image(new HybridMemory(0), OutputName.of(folder.resolve("s")), false, () -> null, () -> null,
                ReaderOptions.DEFAULT);
        assertTrue(image.await(image.changes(), () -> {}));
        image.fail(FaroException.io(null, null, "a disk", new IOException()));
        assertFalse(image.await(image.changes(), () -> {}));
    }

    /** An executor that refuses work makes the store fail that wanted it, and not the one whose producer asked. */
    @Test
    void refusedWorkIsAFailureOfItsStoreOnly() throws Exception {
        HybridMemory memory = new HybridMemory(4000);
        HybridOptions refusing = new HybridOptions(memory, HybridMode.SELECTIVE).executor(work -> {
            throw new RejectedExecutionException("no work");
        });
        ByteBuffer record = ByteBuffer.wrap(new byte[2000]);
        try (HybridStore one = HybridStore.create(folder.resolve("one"), new WriterOptions(2), refusing);
                HybridStore other = HybridStore.create(folder.resolve("other"), new WriterOptions(2),
                        new HybridOptions(memory, HybridMode.SELECTIVE))) {
            one.write(0, record);
            one.flush();
            HybridConsumer reads = other.open(0, null);
            other.write(0, record);
            other.flush();
            assertTrue(reads.next());
            FaroException failure = assertThrows(FaroException.class, one::flush);
            assertEquals(ErrorCode.IO, failure.code());
            assertTrue(failure.getMessage().contains("no work"), failure.getMessage());
        }
        assertEquals(0, memory.used());
    }

    /** A consumer that looks while its store fails either learns of it, or is woken, and the memory is free. */
    @ParameterizedTest
    @EnumSource(HybridMode.class)
    void aConsumerThatLooksDuringAFailureDoesNotWait(HybridMode mode) throws Exception {
        HybridMemory memory = new HybridMemory(0);
        Path name = folder.resolve("gone").resolve("s");
        ExecutorService threads = Executors.newFixedThreadPool(1);
        try {
            for (int i = 0; i < MEETINGS; i++) {
                AtomicInteger woken = new AtomicInteger();
                HybridOptions options = new HybridOptions(memory, mode);
                try (HybridStore store = HybridStore.create(name, new WriterOptions(2), options)) {
                    HybridConsumer consumer = store.open(0, woken::incrementAndGet);
                    store.write(0, ByteBuffer.wrap(new byte[100]));
                    // No consumer takes this, so it has to be written.
                    store.write(1, ByteBuffer.wrap(new byte[100]));
                    CyclicBarrier start = new CyclicBarrier(2);
                    Future<Boolean> looks = threads.submit(() -> {
                        start.await();
                        try {
                            return consumer.next();
                        } catch (FaroException e) {
                            assertEquals(ErrorCode.IO, e.code());
                            assertTrue(e.getMessage().contains("gone"), e.getMessage());
                            return null;
                        }
                    });
                    start.await();
                    assertThrows(FaroException.class, store::flush);
                    Boolean found = looks.get(20, TimeUnit.SECONDS);
                    assertTrue(found == null || found || woken.get() == 1, "waits for ever");
                    assertEquals(0, memory.used());
                }
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
