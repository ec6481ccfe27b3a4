package dev.faro.merge;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.codec.Codec;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FragmentStreamTest {
    private static final int PARTITIONS = 5;

    @TempDir
    private Path folder;

    private Reader written(Codec codec, boolean dictionaries) throws Exception {
        WriterOptions options = new WriterOptions(PARTITIONS).codec(codec).dictionaries(dictionaries).blockSize(512);
        try (Writer writer = Writer.create(folder.resolve("x"), options)) {
            for (int i = 0; i < 4000; i++) {
                // Partition 3 stays empty, except for what is for all.
                int partition = i % PARTITIONS == 3 ? 0 : i % PARTITIONS;
                writer.write(partition, bytes("record " + i + " of partition " + partition));
                if (i % 1000 == 999) {
                    writer.broadcast(bytes("for all " + i));
                    writer.flush();
                }
            }
            writer.finish();
        }
        return open();
    }

    private Reader open() throws FaroException {
        return Reader.openPair(folder.resolve("x.data"), folder.resolve("x.index"), ReaderOptions.DEFAULT);
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }

    @ParameterizedTest
    @CsvSource({"NONE, false", "LZ4, false", "ZSTD, true"})
    void itHasTheBytesOfTheFragment(Codec codec, boolean dictionaries) throws Exception {
        try (Reader reader = written(codec, dictionaries)) {
            for (int from = 0; from < PARTITIONS; from++) {
                for (int to = from + 1; to <= PARTITIONS; to++) {
                    ByteArrayOutputStream expected = new ByteArrayOutputStream();
                    Fragments.write(reader, from, to, expected);
                    try (InputStream stream = Fragments.stream(reader, from, to)) {
                        assertArrayEquals(expected.toByteArray(), inPieces(stream, new Random(from * 7 + to)));
                        assertEquals(-1, stream.read());
                    }
                    try (InputStream stream = Fragments.stream(reader, from, to)) {
                        // The rest of a part that was begun, and the parts after it.
                        ByteArrayOutputStream rest = new ByteArrayOutputStream();
                        rest.write(stream.read());
                        assertEquals(expected.size() - 1, stream.transferTo(rest));
                        assertArrayEquals(expected.toByteArray(), rest.toByteArray());
                        assertEquals(0, stream.transferTo(rest));
                    }
                }
            }
        }
    }

    private static byte[] inPieces(InputStream stream, Random random) throws Exception {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] piece = new byte[3000];
        while (true) {
            int wanted = 1 + random.nextInt(piece.length);
            int count = wanted == 1 ? stream.read() : stream.read(piece, 0, wanted);
            if (count < 0) {
                return all.toByteArray();
            } else if (wanted == 1) {
                all.write(count);
            } else {
                all.write(piece, 0, count);
            }
        }
    }

    @Test
    void withoutBlocksItIsEmpty() throws Exception {
        try (Writer writer = Writer.create(folder.resolve("x"), new WriterOptions(PARTITIONS))) {
            writer.write(1, bytes("one"));
            writer.finish();
        }
        try (Reader reader = open(); InputStream stream = Fragments.stream(reader, 2, 4)) {
            assertEquals(-1, stream.read());
        }
    }

    /** What was damaged does not look like a fragment that ends, however often it is read. */
    @Test
    void damageIsThrownAgain() throws Exception {
        written(Codec.NONE, false).close();
        Path data = folder.resolve("x.data");
        byte[] file = Files.readAllBytes(data);
        file[file.length / 2] ^= 1;
        Files.write(data, file);
        try (Reader reader = open(); InputStream stream = Fragments.stream(reader, 0, PARTITIONS)) {
            FaroException first = assertThrows(FaroException.class, stream::readAllBytes);
            assertEquals(ErrorCode.CHECKSUM, first.code());
            assertEquals(ErrorCode.CHECKSUM, assertThrows(FaroException.class, stream::read).code());
            OutputStream nowhere = OutputStream.nullOutputStream();
            assertEquals(ErrorCode.CHECKSUM,
                    assertThrows(FaroException.class, () -> stream.transferTo(nowhere)).code());
        }
    }

    @Test
    void aClosedStreamHasEnded() throws Exception {
        try (Reader reader = written(Codec.NONE, false)) {
            InputStream stream = Fragments.stream(reader, 0, PARTITIONS);
            stream.read();
            stream.close();
            stream.close();
            assertEquals(-1, stream.read());
            assertEquals(4, reader.regionCount());
        }
    }

    @Test
    void anEmptyRangeIsRefused() throws Exception {
        try (Reader reader = written(Codec.NONE, false)) {
            FaroException refused = assertThrows(FaroException.class, () -> Fragments.stream(reader, 2, 2));
            assertEquals(ErrorCode.INVALID_ARGUMENT, refused.code());
        }
    }
}
