package dev.faro.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.testing.ShortReads;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The test kit: it accepts what keeps the promises, and says what is wrong with everything else. */
class StoredFileCheckTest {
    private static final int[] SIZES = {0, 1, 2, 9, 4096, 100_001};

    @TempDir
    Path folder;

    private static byte[] random(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    @Test
    void whatKeepsThePromises() throws Exception {
        for (int size : SIZES) {
            byte[] bytes = random(size);
            ByteBuffer expected = ByteBuffer.wrap(bytes);
            Path path = Files.write(folder.resolve("file"), bytes);
            try (StoredFile file = LocalFile.open(path)) {
                StoredFileCheck.check(file, expected);
                assertEquals(path.toString(), file.name());
            }
            StoredFileCheck.check(new MemoryFile("memory", expected), expected);
            ByteBuffer direct = ByteBuffer.allocateDirect(size + 5).put(3, bytes).position(3).limit(3 + size);
            StoredFileCheck.check(new MemoryFile("direct", direct), direct);
            ShortReads shortReads = new ShortReads("short", bytes, size);
            StoredFileCheck.check(shortReads, expected);
            assertTrue(size < 9 || shortReads.shortened() > 100);
            assertEquals(0, expected.position());
        }
    }

    /** A file in memory, of which a test breaks one part. */
    private static class Wrong implements StoredFile {
        final MemoryFile file;

        Wrong(byte[] bytes) {
            file = new MemoryFile("wrong", ByteBuffer.wrap(bytes));
        }

        @Override
        public long size() {
            return file.size();
        }

        @Override
        public int read(long offset, ByteBuffer target) throws IOException {
            return file.read(offset, target);
        }

        @Override
        public String name() {
            return file.name();
        }

        @Override
        public void close() {}
    }

    private static void expectRefused(String message, StoredFile file, byte[] bytes) {
        AssertionError e = assertThrows(
                AssertionError.class, () -> StoredFileCheck.check(file, ByteBuffer.wrap(bytes)), message);
        assertTrue(e.getMessage().contains(message), e.getMessage());
    }

    private record Row(String message, StoredFile file) {}

    @Test
    void whatBreaksAPromise() {
        byte[] bytes = random(50_000);
        List<Row> rows = new ArrayList<>();
        rows.add(new Row("size() returned 49999 instead of 50000", new Wrong(bytes) {
            @Override
            public long size() {
                return super.size() - 1;
            }
        }));
        rows.add(new Row("wrote outside of its room", new Wrong(bytes) {
            @Override
            public int read(long offset, ByteBuffer target) throws IOException {
                int limit = target.limit();
                int position = target.position();
                int count = super.read(offset, target.limit(Math.min(limit + 1, target.capacity())));
                target.limit(limit).position(Math.min(limit, position + Math.max(count, 0)));
                return Math.min(count, limit - position);
            }
        }));
        rows.add(new Row("more than there is room for", new Wrong(bytes) {
            @Override
            public int read(long offset, ByteBuffer target) throws IOException {
                int count = super.read(offset, target);
                return count < 0 ? count : count + 1;
            }
        }));
        rows.add(new Row("changed the limit of the buffer", new Wrong(bytes) {
            @Override
            public int read(long offset, ByteBuffer target) throws IOException {
                int count = super.read(offset, target);
                target.limit(target.position());
                return count;
            }

            @Override
            public void readRanges(List<RangeRead> ranges) {}
        }));
        rows.add(new Row("but moved the position by 0", new Wrong(bytes) {
            @Override
            public int read(long offset, ByteBuffer target) throws IOException {
                return super.read(offset, target.duplicate());
            }
        }));
        rows.add(new Row("returned 0 before the end", new Wrong(bytes) {
            @Override
            public int read(long offset, ByteBuffer target) throws IOException {
                return offset > 20_000 && target.remaining() > 5 && offset < size() ? 0 : super.read(offset, target);
            }
        }));
        rows.add(new Row("returned -1 before the end", new Wrong(bytes) {
            @Override
            public int read(long offset, ByteBuffer target) throws IOException {
                return offset + target.remaining() > size() ? -1 : super.read(offset, target);
            }
        }));
        rows.add(new Row("returned 0 after the end, instead of -1", new Wrong(bytes) {
            @Override
            public int read(long offset, ByteBuffer target) throws IOException {
                return Math.max(0, super.read(offset, target));
            }
        }));
        rows.add(new Row("returned -1 without room in the buffer", new Wrong(bytes) {
            @Override
            public int read(long offset, ByteBuffer target) throws IOException {
                return target.hasRemaining() ? super.read(offset, target) : -1;
            }
        }));
        rows.add(new Row("failed: java.io.EOFException", new Wrong(bytes) {
            @Override
            public int read(long offset, ByteBuffer target) throws IOException {
                if (offset > size()) {
                    throw new EOFException();
                }
                return super.read(offset, target);
            }
        }));
        rows.add(new Row("failed: java.lang.ArithmeticException", new Wrong(bytes) {
            @Override
            public int read(long offset, ByteBuffer target) throws IOException {
                return super.read(Math.toIntExact(offset), target);
            }
        }));
        rows.add(new Row("failed: java.nio.ReadOnlyBufferException", new Wrong(bytes) {
            @Override
            public int read(long offset, ByteBuffer target) throws IOException {
                // Only buffers with an array.
                return super.read(offset, target.isDirect() ? target.asReadOnlyBuffer() : target);
            }
        }));
        byte[] other = bytes.clone();
        other[25_000] ^= 1;
        rows.add(new Row("returned a wrong byte for offset 25000", new Wrong(other)));
        rows.add(new Row("range 0, read 0 bytes instead of", new Wrong(bytes) {
            @Override
            public void readRanges(List<RangeRead> ranges) throws IOException {
                super.readRanges(ranges.isEmpty() ? ranges : ranges.subList(1, ranges.size()));
            }
        }));
        rows.add(new Row("range 1, read 0 bytes instead of", new Wrong(bytes) {
            @Override
            public void readRanges(List<RangeRead> ranges) throws IOException {
                // Overlapping ranges are read once.
                super.readRanges(ranges.size() == 2 && ranges.get(0).offset() == ranges.get(1).offset()
                        ? ranges.subList(0, 1) : ranges);
            }
        }));
        rows.add(new Row("readRanges([]) of 50000 failed", new Wrong(bytes) {
            @Override
            public void readRanges(List<RangeRead> ranges) throws IOException {
                ranges.get(0);
                super.readRanges(ranges);
            }
        }));
        rows.add(new Row("range 1, returned a wrong byte", new Wrong(bytes) {
            @Override
            public void readRanges(List<RangeRead> ranges) throws IOException {
                for (RangeRead range : ranges) {
                    read(Math.max(0, range.offset() - 1), range.target());
                }
            }
        }));
        rows.forEach(row -> expectRefused(row.message(), row.file(), bytes));
    }

    /** Reads that share a position are right in one thread. */
    @Test
    void aSharedPosition() {
        byte[] bytes = random(50_000);
        expectRefused("4 threads at the same time: ", new Wrong(bytes) {
            private volatile long position;

            @Override
            public int read(long offset, ByteBuffer target) throws IOException {
                position = offset;
                if (Thread.currentThread().getName().startsWith("stored file check")) {
                    // As if each of the threads were in a system call.
                    pause();
                }
                return super.read(position, target);
            }
        }, bytes);
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    /** The default of readRanges does not repeat forever what returns nothing. */
    @Test
    void rangesOfAFileThatReturnsNothing() {
        byte[] bytes = random(10);
        StoredFile file = new Wrong(bytes) {
            @Override
            public int read(long offset, ByteBuffer target) {
                return 0;
            }
        };
        List<RangeRead> ranges = List.of(new RangeRead(0, ByteBuffer.allocate(1)));
        IOException e = assertThrows(IOException.class, () -> file.readRanges(ranges));
        assertEquals("reading returns neither bytes nor the end of the file", e.getMessage());
    }
}
