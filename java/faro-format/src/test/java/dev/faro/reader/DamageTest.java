package dev.faro.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.codec.Codec;
import dev.faro.testing.Outputs;
import dev.faro.writer.Layout;
import dev.faro.writer.WriterOptions;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every change of a byte is reported, and only by {@link FaroException}. */
class DamageTest {
    @TempDir
    Path folder;

    private Path small(Layout layout) throws FaroException {
        Path name = folder.resolve("small");
        Outputs.small(name, new WriterOptions(3).layout(layout).codec(Codec.LZ4).blockSize(64));
        Outputs.readAll(name, layout);
        Outputs.check(name, layout);
        return name;
    }

    @Test
    void everyChangeOfAByteInAPair() throws Exception {
        everyChange(Layout.PAIRED);
    }

    @Test
    void everyChangeOfAByteInASingleFile() throws Exception {
        everyChange(Layout.SINGLE);
    }

    private void everyChange(Layout layout) throws Exception {
        Path name = small(layout);
        for (Path file : Outputs.files(name, layout)) {
            byte[] bytes = Files.readAllBytes(file);
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                for (int at = 0; at < bytes.length; at++) {
                    for (int change = 1; change < 256; change++) {
                        put(channel, at, (byte) (bytes[at] ^ change));
                        String what = file + " at " + at + " xor " + change;
                        assertTrue(fails(() -> Outputs.check(name, layout)), what);
                        // Reading does not look at bytes that no partition needs, such as the footer's sequence. Every
                        // byte of the data file is needed by some partition.
                        if (Integer.bitCount(change) == 1 && file.toString().endsWith(".data")) {
                            assertTrue(fails(() -> Outputs.readAll(name, layout)), what);
                        }
                    }
                    put(channel, at, bytes[at]);
                }
            }
        }
        Outputs.check(name, layout);
    }

    private static void put(FileChannel channel, long at, byte value) throws Exception {
        channel.write(ByteBuffer.wrap(new byte[] {value}), at);
    }

    private interface Action {
        void run() throws FaroException;
    }

    private static boolean fails(Action action) {
        try {
            action.run();
            return false;
        } catch (FaroException e) {
            return true;
        }
    }

    @Test
    void everyTruncation() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("cut" + layout);
            Outputs.small(name, new WriterOptions(3).layout(layout));
            for (Path file : Outputs.files(name, layout)) {
                byte[] bytes = Files.readAllBytes(file);
                for (int size = 0; size < bytes.length; size++) {
                    Files.write(file, Arrays.copyOf(bytes, size));
                    FaroException e = assertThrows(FaroException.class, () -> Outputs.open(name, layout).close());
                    boolean header = size < 64;
                    boolean data = file.toString().endsWith(".data");
                    ErrorCode expected = header || data ? ErrorCode.TRUNCATED : ErrorCode.UNFINISHED;
                    assertEquals(expected, e.code(), file + " " + size);
                    assertEquals(size, e.offset());
                }
                Files.write(file, bytes);
            }
        }
    }

    @Test
    void bytesAfterTheEnd() throws Exception {
        for (Layout layout : Layout.values()) {
            Path name = folder.resolve("more" + layout);
            Outputs.small(name, new WriterOptions(3).layout(layout));
            for (Path file : Outputs.files(name, layout)) {
                byte[] bytes = Files.readAllBytes(file);
                Files.write(file, Arrays.copyOf(bytes, bytes.length + 8));
                FaroException e = assertThrows(FaroException.class, () -> Outputs.open(name, layout).close());
                boolean data = file.toString().endsWith(".data");
                assertEquals(data ? ErrorCode.INCONSISTENT_INDEX : ErrorCode.UNFINISHED, e.code());
                Files.write(file, bytes);
            }
        }
    }
}
