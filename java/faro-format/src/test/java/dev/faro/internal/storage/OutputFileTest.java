package dev.faro.internal.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.FaroException;
import dev.faro.FileRole;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where the writes of a file end, and what its buffer takes. */
class OutputFileTest {
    /** A file that remembers its writes. */
    private static final class Recorded extends OutputFile {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        final List<Long> ends = new ArrayList<>();

        Recorded(FileRole role) {
            super(role, firstBuffer(), 0);
        }

        @Override
        protected void write(ByteBuffer source, long offset) {
            assertEquals(bytes.size(), offset);
            byte[] taken = new byte[source.remaining()];
            source.get(taken);
            bytes.writeBytes(taken);
            ends.add((long) bytes.size());
        }

        @Override
        public boolean canCut() {
            return false;
        }

        @Override
        protected void truncate(long size) {}

        @Override
        protected void force() {}

        @Override
        protected void closeFile() {}

        @Override
        public FaroException failed(String wanted, Throwable cause) {
            throw new AssertionError(wanted, cause);
        }
    }

    private final Random random = new Random(5);
    private final ByteArrayOutputStream expected = new ByteArrayOutputStream();

    private void append(OutputFile file, int reserved, int size) throws FaroException {
        int at = file.reserve(reserved);
        byte[] block = new byte[size];
        random.nextBytes(block);
        file.buffer().put(at, block);
        file.advance(size);
        expected.writeBytes(block);
    }

    @ParameterizedTest
    @CsvSource({"100", "65560", "70000", "100000", "132000", "300000", "1000000", "5000000"})
    void writesOfBlocksEndAtPieces(int largest) throws FaroException {
        Recorded file = new Recorded(FileRole.DATA);
        while (file.position() < 8 * largest + (3 << 20)) {
            int reserved = 1 + random.nextInt(largest);
            // A block that is compressed may need less than was reserved.
            append(file, reserved, random.nextBoolean() ? reserved : 1 + random.nextInt(reserved));
        }
        assertTrue(!file.ends.isEmpty());
        file.ends.forEach(end -> assertEquals(0, end % OutputFile.PIECE));
        file.flush();
        assertArrayEquals(expected.toByteArray(), file.bytes.toByteArray());
    }

    @Test
    void aSmallOutputHasASmallBuffer() throws FaroException {
        Recorded file = new Recorded(FileRole.DATA);
        append(file, 64, 64);
        append(file, 24 + (64 << 10), 100);
        assertTrue(file.buffer().capacity() <= 80 << 10, () -> file.buffer().capacity() + " bytes");
        append(file, 24 + (64 << 10), 24 + (64 << 10));
        append(file, 24 + (64 << 10), 24 + (64 << 10));
        assertTrue(file.buffer().capacity() <= OutputFile.BUFFERS, () -> file.buffer().capacity() + " bytes");
        assertTrue(file.ends.isEmpty());
    }

    @ParameterizedTest
    @CsvSource({"DATA", "INDEX", "SINGLE"})
    void aBufferForMuchIsGivenBack(FileRole role) throws FaroException {
        Recorded file = new Recorded(role);
        append(file, 3_000_000, 3_000_000);
        file.flush();
        assertTrue(file.buffer().capacity() <= 80 << 10, () -> file.buffer().capacity() + " bytes");
        file.holdBack(true);
        for (int i = 0; i < 30; i++) {
            append(file, 50_000, 50_000);
        }
        assertEquals(3_000_000, file.bytes.size());
        file.holdBack(false);
        file.flush();
        assertTrue(file.buffer().capacity() <= 80 << 10, () -> file.buffer().capacity() + " bytes");
        append(file, 10, 10);
        file.flush();
        assertArrayEquals(expected.toByteArray(), file.bytes.toByteArray());
    }

    /** Each message of an index file is written as a whole. */
    @Test
    void messagesOfAnIndexAreNotDivided() throws FaroException {
        Recorded file = new Recorded(FileRole.INDEX);
        List<Long> ends = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            int size = 1 + random.nextInt(700_000);
            append(file, size, size);
            ends.add(file.position());
        }
        assertTrue(ends.containsAll(file.ends));
    }
}
