package dev.faro.reader;

import static dev.faro.testing.Errors.expect;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.scheduler.Consumer;
import dev.faro.scheduler.Scheduler;
import dev.faro.scheduler.SchedulerOptions;
import dev.faro.storage.MemoryFile;
import dev.faro.storage.RangeRead;
import dev.faro.storage.StoredFile;
import dev.faro.storage.StoredOutput;
import dev.faro.testing.Outputs;
import dev.faro.testing.Scrambled;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** What a reader asks of a storage, and what it makes of the storage's failures. */
@Timeout(60)
class StorageFailuresTest {
    private static final int PARTITIONS = 4;
    /** A path would lose one of the slashes in the middle. */
    private static final String NAME = "store://shuffles//7/data?version=1";

    @TempDir
    Path folder;

    private Watched data;
    private Watched index;

    /** A file in memory that fails on demand, and remembers its calls. */
    private static final class Watched implements StoredFile {
        final MemoryFile file;
        /** The sizes of the lists of ranges. */
        final List<Integer> ranges = new ArrayList<>();
        /** The most bytes that one read asked for. */
        int mostAsked;
        int readBytes = 4 << 20;
        volatile IOException failure;
        boolean readsNothing;
        boolean leavesRanges;
        int closed;

        Watched(String name, Path path) throws IOException {
            file = new MemoryFile(name, ByteBuffer.wrap(Files.readAllBytes(path)));
        }

        @Override
        public long size() {
            return file.size();
        }

        @Override
        public int read(long offset, ByteBuffer target) throws IOException {
            if (failure != null) {
                throw failure;
            }
            mostAsked = Math.max(mostAsked, target.remaining());
            return readsNothing ? 0 : file.read(offset, target);
        }

        @Override
        public void readRanges(List<RangeRead> reads) throws IOException {
            ranges.add(reads.size());
            if (!leavesRanges) {
                StoredFile.super.readRanges(reads);
            }
        }

        @Override
        public int readBytes() {
            return readBytes;
        }

        @Override
        public String name() {
            return file.name();
        }

        @Override
        public void close() throws IOException {
            closed++;
            if (failure != null) {
                throw failure;
            }
        }
    }

    @BeforeEach
    void write() throws Exception {
        Path name = folder.resolve("even");
        Outputs.even(name, PARTITIONS, 3, 40_000);
        data = new Watched(NAME, Outputs.file(name, ".data"));
        index = new Watched("the index", Outputs.file(name, ".index"));
    }

    private Reader open() throws FaroException {
        return Reader.openStored(StoredOutput.paired(data, index), ReaderOptions.DEFAULT);
    }

    private static void readAll(BlockCursor blocks) throws FaroException {
        try (blocks) {
            while (blocks.next()) {
                blocks.payload();
            }
        }
    }

    private void expectIo(Executable call) {
        FaroException e = expect(ErrorCode.IO, call);
        assertEquals(FileRole.DATA, e.role());
        assertEquals(NAME, e.fileName());
        assertNull(e.file());
        assertSame(data.failure, e.getCause());
        assertTrue(e.getMessage().startsWith("io in data file " + NAME + ": expected bytes at "), e.getMessage());
    }

    /** Also a timeout, whose class says that it is an interrupt. It ends the reading, as an interrupt does not. */
    @Test
    void aFailureIsAnIoErrorOfTheFile() throws Exception {
        for (IOException failure : List.of(
                new IOException("the network is down"), new SocketTimeoutException("late"))) {
            data.failure = null;
            try (Reader reader = open(); Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT);
                    Consumer consumer = scheduler.partition(reader, 1)) {
                data.failure = failure;
                expectIo(() -> readAll(reader.partition(1)));
                expectIo(() -> readAll(reader.byPartition(0, PARTITIONS)));
                expectIo(consumer::next);
                data.failure = null;
                readAll(reader.partition(1));
                expect(ErrorCode.IO, consumer::next);
                try (Consumer another = scheduler.partition(reader, 1)) {
                    assertTrue(another.next());
                }
            }
        }
    }

    @Test
    void anErrorKeepsTheNameWhenItIsSerialized() throws Exception {
        FaroException e = FaroException.ioInStorage(FileRole.DATA, NAME, "bytes", new IOException("no"));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(e);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            assertEquals(NAME, ((FaroException) in.readObject()).fileName());
        }
        assertEquals(NAME, e.again().fileName());
    }

    /** A file that is cut: the fault is that of BLK-8, with the name of the file. */
    @Test
    void aFileThatIsTooShort() throws Exception {
        Path path = Outputs.file(folder.resolve("even"), ".data");
        byte[] whole = Files.readAllBytes(path);
        Files.write(path, Arrays.copyOf(whole, 100));
        data = new Watched(NAME, path);
        FaroException e = expect(ErrorCode.TRUNCATED, this::open);
        assertEquals(100, e.offset());
        assertEquals(NAME, e.fileName());
        assertEquals(List.of(1, 1), List.of(data.closed, index.closed));
    }

    @Test
    void closingAndRefusing() throws Exception {
        Reader reader = open();
        assertEquals(List.of(0, 0), List.of(data.closed, index.closed));
        reader.close();
        reader.close();
        assertTrue(data.closed > 0 && index.closed > 0);
        Watched single = new Watched("single", Outputs.file(folder.resolve("even"), ".data"));
        expect(ErrorCode.MISMATCHED_PAIR,
                () -> Reader.openStored(StoredOutput.single(single), ReaderOptions.DEFAULT));
        assertTrue(single.closed > 0);
        // One file is not a pair, even if it has blocks and regions.
        Outputs.small(folder.resolve("small"), new WriterOptions(3).layout(Layout.SINGLE));
        Watched both = new Watched("both", Outputs.file(folder.resolve("small"), ".faro"));
        expect(ErrorCode.MISMATCHED_PAIR,
                () -> Reader.openStored(StoredOutput.paired(both, both), ReaderOptions.DEFAULT));
        index.failure = new IOException("no");
        FaroException e = expect(ErrorCode.IO, this::open);
        assertEquals(FileRole.INDEX, e.role());
        assertEquals(1, e.getSuppressed().length);
    }

    /** A window, and requests of a scheduler that are worth a call each, are one call of the storage. */
    @Test
    void severalReadsAreOneCall() throws Exception {
        try (Reader reader = open(); Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT)) {
            data.ranges.clear();
            readAll(reader.byPartition(0, 2));
            assertEquals(List.of(3), data.ranges);
            data.ranges.clear();
            List<Consumer> consumers = new ArrayList<>();
            for (int i = 0; i < PARTITIONS; i++) {
                consumers.add(scheduler.partition(reader, i));
            }
            scheduler.serve();
            assertEquals(1, data.ranges.size());
            assertTrue(data.ranges.get(0) >= PARTITIONS, data.ranges.toString());
            consumers.forEach(Consumer::close);
        }
    }

    /** The first pieces of all region messages are one call; a failure of that call is that of one region. */
    @Test
    void aDirectLookupIsOneCall() throws Exception {
        ReaderOptions direct = ReaderOptions.DEFAULT.withLookup(Lookup.DIRECT);
        try (Reader reader = Reader.openStored(StoredOutput.paired(data, index), direct)) {
            List<String> expected = Scrambled.transcript(reader.partition(1));
            assertEquals(List.of(3), index.ranges);
            index.leavesRanges = true;
            assertEquals(expected, Scrambled.transcript(reader.partition(1)));
            index.failure = new IOException("no");
            FaroException e = expect(ErrorCode.IO, () -> readAll(reader.partition(1)));
            assertEquals(FileRole.INDEX, e.role());
            index.failure = null;
        }
    }

    /** The storage says how much is worth one request, within limits. */
    @Test
    void readsOfThePreferredSize() throws Exception {
        Path name = folder.resolve("large");
        try (Writer writer = Writer.create(name, new WriterOptions(2).blockSize(2000))) {
            for (int i = 0; i < 3000; i++) {
                writer.write(i % 2, ByteBuffer.allocate(1900));
            }
            writer.finish();
        }
        for (int preferred : new int[] {-1, 0, 100_000, 1 << 20, Integer.MAX_VALUE}) {
            data = new Watched(NAME, Outputs.file(name, ".data"));
            index = new Watched("the index", Outputs.file(name, ".index"));
            data.readBytes = preferred;
            try (Reader reader = open()) {
                readAll(reader.partition(1));
                int extent = (int) reader.storedBytes(1);
                assertEquals(Math.min(extent, Math.max(4096, preferred)), data.mostAsked);
                data.ranges.clear();
                readAll(reader.byPartition(0, 2));
                assertEquals(preferred == Integer.MAX_VALUE ? List.of(1) : List.of(), data.ranges);
            }
        }
    }

    @Test
    void aStorageThatBreaksPromises() throws Exception {
        try (Reader reader = open()) {
            List<String> expected = Scrambled.transcript(reader.byPartition(0, PARTITIONS));
            assertFalse(expected.isEmpty());
            data.leavesRanges = true;
            assertEquals(expected, Scrambled.transcript(reader.byPartition(0, PARTITIONS)));
            data.readsNothing = true;
            FaroException e = expect(ErrorCode.IO, () -> readAll(reader.partition(1)));
            assertEquals("reading returns neither bytes nor the end of the file", e.getCause().getMessage());
        }
    }
}
