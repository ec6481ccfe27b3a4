package dev.faro.scheduler.interleaved;

import dev.faro.FaroException;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A small output of two regions with two readers, so that there are two files to serve; and its expected contents. */
final class Output {
    static final int PARTITIONS = 4;

    private final Reader[] readers = new Reader[2];
    private final List<List<String>> expected = new ArrayList<>();

    Output(Path name) throws IOException {
        byte[] record = new byte[3000];
        try (Writer writer = Writer.create(name, new WriterOptions(PARTITIONS).blockSize(2000))) {
            for (int i = 0; i < 2 * PARTITIONS; i++) {
                Arrays.fill(record, (byte) i);
                writer.write(i % PARTITIONS, ByteBuffer.wrap(record));
                if (i == PARTITIONS) {
                    writer.flush();
                }
            }
            writer.finish();
        }
        for (int i = 0; i < readers.length; i++) {
            readers[i] = Reader.openPair(
                    name.resolveSibling(name.getFileName() + ".data"),
                    name.resolveSibling(name.getFileName() + ".index"), ReaderOptions.DEFAULT);
        }
        for (int i = 0; i < PARTITIONS; i++) {
            List<String> transcript = new ArrayList<>();
            try (BlockCursor blocks = readers[0].partition(i)) {
                while (blocks.next()) {
                    transcript.add(describe(blocks));
                }
            }
            expected.add(transcript);
        }
    }

    /** Describes a block. */
    static String describe(BlockCursor block) throws FaroException {
        byte[] payload = new byte[block.plainSize()];
        block.payload().get(0, payload);
        return block.offset() + " " + Arrays.hashCode(payload);
    }

    /** One of two readers of the same files. */
    Reader reader(int which) {
        return readers[which];
    }

    /** The blocks of a partition. */
    List<String> expected(int partition) {
        return expected.get(partition);
    }
}
