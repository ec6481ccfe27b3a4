package dev.faro;

import static dev.faro.testing.Errors.expect;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.follow.Follower;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.repair.Clean;
import dev.faro.repair.CleanOptions;
import dev.faro.repair.Recover;
import dev.faro.repair.RecoverOptions;
import dev.faro.testing.Outputs;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** The texts of errors: the file, two checksums (ERR-4), file_ids, unsigned numbers, options. */
class ErrorTextTest {
    private static final UUID ID = new UUID(0x0000_0a1b_0000_0001L, 0x8000_0000_0000_0002L);

    @TempDir
    Path folder;

    private static int crc(byte[] bytes, int from, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, length);
        return (int) crc.getValue();
    }

    private static void expectChecksums(FaroException e, int stored, int computed) {
        assertEquals(String.format("stored %08x", stored), e.expected());
        assertEquals(String.format("computed %08x", computed), e.found());
    }

    private Path output(String name, Layout layout) throws FaroException {
        Path path = folder.resolve(name);
        try (Writer writer = Writer.create(path, new WriterOptions(2).layout(layout).fileId(ID))) {
            writer.write(0, Outputs.bytes("record"));
            writer.finish();
        }
        return Outputs.files(path, layout).get(layout == Layout.SINGLE ? 0 : 1);
    }

    private static ByteBuffer read(Path file) throws Exception {
        return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void aChecksumOfAHeader() throws Exception {
        Path file = output("header", Layout.SINGLE);
        ByteBuffer bytes = read(file);
        // Leading zeros are printed too.
        bytes.putInt(60, 0x0012_0034);
        Files.write(file, bytes.array());
        expectChecksums(expect(ErrorCode.CHECKSUM, () -> Outputs.open(folder.resolve("header"), Layout.SINGLE)),
                0x0012_0034, crc(bytes.array(), 0, 60));
    }

    @Test
    void aChecksumOfABlock() throws Exception {
        Path file = output("block", Layout.SINGLE);
        ByteBuffer bytes = read(file);
        int right = bytes.getInt(64 + 20);
        bytes.putInt(64 + 20, ~right);
        Files.write(file, bytes.array());
        expectChecksums(expect(ErrorCode.CHECKSUM, () -> Outputs.readAll(folder.resolve("block"), Layout.SINGLE)),
                ~right, right);
    }

    /**
     * A reader finds the fault at the end, a follower after the footer; the follower finds it even if the magic is
     * damaged.
     */
    @Test
    void aChecksumOfATail() throws Exception {
        for (boolean magic : new boolean[] {false, true}) {
            String name = "tail" + magic;
            Path file = output(name, Layout.PAIRED);
            ByteBuffer bytes = read(file);
            int tail = bytes.capacity() - 24;
            int stored = bytes.getInt(tail + 12);
            int damaged = magic ? tail + 23 : tail;
            bytes.put(damaged, (byte) (bytes.get(damaged) ^ 1));
            CRC32C crc = new CRC32C();
            crc.update(bytes.array(), tail, 12);
            crc.update(bytes.array(), tail + 16, 8);
            Files.write(file, bytes.array());
            if (!magic) {
                expectChecksums(
                        expect(ErrorCode.CHECKSUM, () -> Outputs.open(folder.resolve(name), Layout.PAIRED)),
                        stored, (int) crc.getValue());
            }
            try (Follower follower = Outputs.follow(folder.resolve(name), Layout.PAIRED)) {
                expectChecksums(expect(ErrorCode.CHECKSUM, follower::poll), stored, (int) crc.getValue());
            }
        }
    }

    @Test
    void aPairThatDoesNotBelongTogether() throws Exception {
        output("one", Layout.PAIRED);
        Path other = folder.resolve("other");
        Outputs.small(other, new WriterOptions(3).producer(-1).attempt(-1));
        Files.copy(Outputs.file(other, ".data"), Outputs.file(folder.resolve("two"), ".data"));
        Files.copy(Outputs.file(folder.resolve("one"), ".index"), Outputs.file(folder.resolve("two"), ".index"));
        FaroException ids =
                expect(ErrorCode.MISMATCHED_PAIR, () -> Outputs.open(folder.resolve("two"), Layout.PAIRED));
        assertEquals("00000a1b000000018000000000000002, as in the index file", ids.expected());
        assertEquals("00000000000000010000000000000002", ids.found());
        ByteBuffer data = read(Outputs.file(other, ".data"));
        Path index = Outputs.file(other, ".index");
        ByteBuffer header = read(index).putLong(24, 1);
        Files.write(index, header.putInt(60, crc(header.array(), 0, 60)).array());
        FaroException producers = expect(ErrorCode.MISMATCHED_PAIR, () -> Outputs.open(other, Layout.PAIRED));
        assertEquals(Long.toUnsignedString(data.getLong(24)), producers.found());
        assertEquals("18446744073709551615", producers.found());
        header.putLong(24, -1).putLong(32, 7);
        Files.write(index, header.putInt(60, crc(header.array(), 0, 60)).array());
        assertEquals("18446744073709551615",
                expect(ErrorCode.MISMATCHED_PAIR, () -> Outputs.open(other, Layout.PAIRED)).found());
    }

    @Test
    void anOptionOutOfItsRangeIsNamedWithItsValue() {
        for (int level : new int[] {-5, 0, 20}) {
            FaroException e = expect(ErrorCode.INVALID_ARGUMENT,
                    () -> Writer.create(folder.resolve("level"), new WriterOptions(2).level(level)));
            assertEquals(Integer.toString(level), e.found());
            assertTrue(e.expected().contains("level"), e.expected());
        }
    }

    /** The file is in the message once, with or without a role, and also if the system's own error names it. */
    @Test
    void aMessageNamesTheFileOnce() throws Exception {
        Path file = folder.resolve("nosuch");
        assertEquals("io in " + file + ": expected a, found b",
                new FaroException(ErrorCode.IO, null, file, FaroException.NO_OFFSET, "a", "b", null).getMessage());
        assertEquals("truncated in data file " + file + " at offset 64: expected a, found b",
                new FaroException(ErrorCode.TRUNCATED, FileRole.DATA, file, 64, "a", "b", null).getMessage());
        assertEquals("limit-exceeded: expected a, found b", FaroException.limitExceeded("a", "b").getMessage());
        Map<Path, Executable> calls = Map.of(
                file, () -> Reader.open(file, ReaderOptions.DEFAULT),
                folder.resolve("single"), () -> Reader.openSingle(folder.resolve("single"), ReaderOptions.DEFAULT),
                folder.resolve("clean"), () -> Clean.clean(folder.resolve("clean"), CleanOptions.DEFAULT),
                folder.resolve("recover"), () -> Recover.recover(folder.resolve("recover"), RecoverOptions.DEFAULT),
                folder.resolve("none"), () -> Recover.recover(folder.resolve("none/a"), RecoverOptions.DEFAULT));
        calls.forEach((named, call) -> {
            FaroException e = expect(ErrorCode.IO, call);
            assertEquals(named, e.file());
            assertEquals(1, e.getMessage().split(Pattern.quote(named.toString()), -1).length - 1, e.getMessage());
        });
    }

    @Test
    void familiesAreThoseOfTheSpecification() throws Exception {
        Pattern row = Pattern.compile("^\\| `([a-z-]+)` \\| [^|]* \\| ([a-z]+) \\|$");
        Map<String, String> expected = new TreeMap<>();
        for (String line : Files.readAllLines(Path.of("../../spec/errors.md"))) {
            Matcher matcher = row.matcher(line);
            if (matcher.matches()) {
                expected.put(matcher.group(1), matcher.group(2));
            }
        }
        Map<String, String> found = new TreeMap<>();
        for (ErrorCode code : ErrorCode.values()) {
            found.put(code.toString(), code.family().toString());
        }
        assertEquals(expected, found);
    }
}
