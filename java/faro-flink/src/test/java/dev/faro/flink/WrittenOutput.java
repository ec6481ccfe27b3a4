package dev.faro.flink;

import dev.faro.internal.block.BlockHeader;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The files of a finished partition, and the positions of the blocks that only one subpartition reads.
 *
 * @param blocks in the order in which they are read
 */
record WrittenOutput(Path data, Path index, List<Block> blocks) {
    /** The size of an entry in the index of Flink's own files: offset and length of one subpartition in one region. */
    private static final int ENTRY = 16;
    /** The size of the header of a buffer in Flink's own files: type, whether it is compressed, length. */
    private static final int HEADER = 8;
    /** The bytes before the LZ4 block in a compressed buffer: compressed and original length. */
    private static final int LENGTHS = 8;

    /**
     * A block, by offsets in the data file.
     *
     * @param from the offset of its header
     * @param size the offset of its size in the header, least significant byte first
     * @param payload the offset of its bytes, compressed or plain
     * @param to the offset after the block
     */
    record Block(long from, long size, long payload, long to) {}

    /** Finds the only output below a folder. */
    static WrittenOutput find(Shuffle shuffle, Path folder, int subpartition, int subpartitions) throws IOException {
        Path data = only(folder, ".data");
        Path index = only(folder, ".index");
        return new WrittenOutput(data, index, switch (shuffle) {
            case FARO -> faro(data, index, subpartition);
            case STOCK -> stock(Files.readAllBytes(data), Files.readAllBytes(index), subpartition, subpartitions);
        });
    }

    private static Path only(Path folder, String extension) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> found = files.filter(file -> file.toString().endsWith(extension)).toList();
            if (found.size() != 1) {
                throw new IOException("expected one " + extension + ", found " + found);
            }
            return found.get(0);
        }
    }

    private static List<Block> faro(Path data, Path index, int subpartition) throws IOException {
        List<Block> found = new ArrayList<>();
        try (Reader reader = Reader.openPair(data, index, ReaderOptions.DEFAULT);
                BlockCursor blocks = reader.partition(subpartition)) {
            while (blocks.next()) {
                if (!blocks.isShared()) {
                    long payload = blocks.offset() + BlockHeader.SIZE;
                    long end = payload + blocks.storedPayload().remaining();
                    found.add(new Block(blocks.offset(), blocks.offset(), payload, end));
                }
            }
        }
        return found;
    }

    private static List<Block> stock(byte[] data, byte[] index, int subpartition, int subpartitions) {
        ByteBuffer entries = ByteBuffer.wrap(index).order(ByteOrder.nativeOrder());
        ByteBuffer bytes = ByteBuffer.wrap(data).order(ByteOrder.nativeOrder());
        List<Block> found = new ArrayList<>();
        for (int region = 0; region < index.length; region += subpartitions * ENTRY) {
            int from = (int) entries.getLong(region + subpartition * ENTRY);
            int to = from + (int) entries.getLong(region + subpartition * ENTRY + Long.BYTES);
            boolean shared = from == entries.getLong(region + (subpartition + 1) % subpartitions * ENTRY);
            while (!shared && from < to) {
                boolean compressed = bytes.getShort(from + Short.BYTES) != 0;
                int size = from + 2 * Short.BYTES;
                int end = from + HEADER + bytes.getInt(size);
                found.add(new Block(from, size, from + HEADER + (compressed ? LENGTHS : 0), end));
                from = end;
            }
        }
        return found;
    }
}
