package dev.faro.testing;

import dev.faro.FaroException;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.check.CheckReport;
import dev.faro.follow.Follower;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.PartitionReader;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/** Small outputs, and short ways to read them. */
public final class Outputs {
    private Outputs() {}

    public static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Writes two regions with own and shared extents, data and an event, and a property. */
    public static void small(Path name, WriterOptions options) throws FaroException {
        try (Writer writer = Writer.create(name, options.fileId(new UUID(1, 2)))) {
            writer.write(0, bytes("one"));
            writer.writeEvent(2, 1, bytes("a"));
            writer.broadcast(bytes("to all of them"));
            writer.flush();
            writer.write(1, bytes("two two two two two two two two two two two two"));
            writer.multicast(new int[] {0, 1}, bytes("to some"));
            writer.property("k", "v");
            writer.finish();
        }
    }

    /** Writes, over what exists, a record of its own content and of some blocks for each partition in each region. */
    public static void even(Path name, int partitions, int regions, int recordSize) throws FaroException {
        byte[] record = new byte[recordSize];
        try (Writer writer = Writer.create(name, new WriterOptions(partitions).blockSize(2000).overwrite(true))) {
            for (int region = 0; region < regions; region++) {
                for (int i = 0; i < partitions; i++) {
                    Arrays.fill(record, (byte) (region * partitions + i));
                    writer.write(i, ByteBuffer.wrap(record));
                }
                writer.flush();
            }
            writer.finish();
        }
    }

    /** Gives the block at an offset of a whole file its right checksum (BLK-9). */
    public static void reseal(ByteBuffer file, int at) {
        CRC32C crc = new CRC32C();
        crc.update(file.array(), 40, 16);
        crc.update(file.array(), at, 20);
        crc.update(file.array(), at + 24, file.getInt(at));
        file.putInt(at + 20, (int) crc.getValue());
    }

    public static Path file(Path name, String extension) {
        return name.resolveSibling(name.getFileName() + extension);
    }

    public static List<Path> files(Path name, Layout layout) {
        return layout == Layout.SINGLE ? List.of(file(name, ".faro"))
                : List.of(file(name, ".data"), file(name, ".index"));
    }

    public static Reader open(Path name, Layout layout) throws FaroException {
        return layout == Layout.SINGLE ? Reader.openSingle(file(name, ".faro"), ReaderOptions.DEFAULT)
                : Reader.openPair(file(name, ".data"), file(name, ".index"), ReaderOptions.DEFAULT);
    }

    public static Follower follow(Path name, Layout layout) throws FaroException {
        return layout == Layout.SINGLE ? Follower.openSingle(file(name, ".faro"), ReaderOptions.DEFAULT)
                : Follower.openPair(file(name, ".data"), file(name, ".index"), ReaderOptions.DEFAULT);
    }

    public static CheckReport check(Path name, Layout layout) throws FaroException {
        try (Reader reader = open(name, layout)) {
            return Check.check(reader, CheckLevel.DECODE);
        }
    }

    /** Reads every block of every partition; returns their number. */
    public static int readAll(PartitionReader reader) throws FaroException {
        int count = 0;
        int first = reader.header().firstPartition();
        for (int p = first; p < first + reader.header().partitionCount(); p++) {
            try (BlockCursor blocks = reader.partition(p)) {
                while (blocks.next()) {
                    blocks.framedPayload();
                    count++;
                }
            }
        }
        return count;
    }

    /** The contents of all partitions: kinds and bytes. */
    public static String contents(PartitionReader reader) throws FaroException {
        StringBuilder text = new StringBuilder();
        int first = reader.header().firstPartition();
        for (int p = first; p < first + reader.header().partitionCount(); p++) {
            text.append(p).append(": ");
            try (BlockCursor blocks = reader.partition(p)) {
                while (blocks.next()) {
                    byte[] payload = new byte[blocks.plainSize()];
                    blocks.framedPayload().get(0, payload);
                    text.append(blocks.kind()).append(' ').append(HexFormat.of().formatHex(payload)).append('\n');
                }
            }
        }
        return text.toString();
    }

    public static int readAll(Path name, Layout layout) throws FaroException {
        try (Reader reader = open(name, layout)) {
            return readAll(reader);
        }
    }

    /** The number of this process's open files in a folder, removed or not; 0 if the system does not tell. */
    public static long descriptors(Path folder) throws IOException {
        Path own = Path.of("/proc/self/fd");
        if (!Files.exists(own)) {
            return 0;
        }
        Path real = folder.toRealPath();
        try (Stream<Path> open = Files.list(own)) {
            return open.filter(link -> {
                try {
                    return Files.readSymbolicLink(link).startsWith(real);
                } catch (IOException e) {
                    // The descriptor of this listing itself.
                    return false;
                }
            }).count();
        }
    }

    public static List<String> names(Path folder) throws IOException {
        try (Stream<Path> paths = Files.list(folder)) {
            return paths.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }
}
