package dev.faro.fuzz;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.PartitionReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The blocks that were read from a partition or a range.
 *
 * @param blocks a number for each block, from its kind and bytes
 * @param sum over all blocks
 * @param error the error that ended the reading, or null
 */
record Content(List<Long> blocks, String sum, FaroException error) {
    private static final int SOME = 8;

    /** Reads a partition by itself. */
    static Content ofPartition(PartitionReader reader, int partition, long maxPlain) throws IOException {
        Collector collector = new Collector(maxPlain);
        FaroException error = null;
        try (BlockCursor blocks = reader.partition(partition)) {
            while (blocks.next()) {
                collector.take(blocks, false);
            }
        } catch (FaroException e) {
            error = FilesInput.judged(e);
        }
        return new Content(collector.blocks, Sums.of(collector.digest), error);
    }

    /** Reads everything as one range; adds the blocks of some partitions to {@code read}. */
    static Content ofRange(PartitionReader reader, long maxPlain, List<Integer> partitions, List<List<Long>> read)
            throws IOException {
        Collector collector = new Collector(maxPlain);
        FaroException error = null;
        try (BlockCursor blocks = reader.all()) {
            while (blocks.next()) {
                long block = collector.take(blocks, true);
                for (int i = 0; i < partitions.size(); i++) {
                    if (blocks.isFor(partitions.get(i))) {
                        read.get(i).add(block);
                    }
                }
            }
        } catch (FaroException e) {
            error = FilesInput.judged(e);
        }
        return new Content(collector.blocks, Sums.of(collector.digest), error);
    }

    /** "Every partition" of TARGETS.md. */
    static List<Integer> partitions(FileHeader header) {
        int count = header.partitionCount();
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            if (count > 2 * SOME && i == SOME) {
                i = count - SOME;
            }
            numbers.add(header.firstPartition() + i);
        }
        return numbers;
    }

    /** Adds a line with {@code words} and the content. */
    void print(Transcript transcript, Object... words) {
        List<Object> line = new ArrayList<>(List.of(words));
        line.add(blocks.size());
        line.add(sum);
        if (error != null) {
            line.add(error);
        }
        transcript.line(line.toArray());
    }

    boolean isSame(Content other) {
        return isSame(error, other.error) && sum.equals(other.sum) && blocks.equals(other.blocks);
    }

    /** Whether two errors are the same, or both are null. */
    static boolean isSame(FaroException a, FaroException b) {
        if (a == null || b == null) {
            return a == b;
        }
        return a.code() == b.code() && a.role() == b.role() && a.offset() == b.offset();
    }

    private static final class Collector {
        private final long maxPlain;
        private final MessageDigest digest = Sums.digest();
        private final ByteBuffer head = ByteBuffer.allocate(9).order(ByteOrder.LITTLE_ENDIAN);
        private final List<Long> blocks = new ArrayList<>();

        Collector(long maxPlain) {
            this.maxPlain = maxPlain;
        }

        long take(BlockCursor block, boolean withPartition) throws FaroException {
            ByteBuffer payload = block.payload();
            Broken.unless(payload.remaining() == block.plainSize(), "the payload has plain_size bytes");
            Broken.unless(payload.remaining() <= maxPlain, "the payload has at most max_plain_size bytes");
            head.clear();
            if (withPartition) {
                head.putInt(block.partition());
            }
            digest.update(head.put((byte) block.kind()).putInt(payload.remaining()).flip());
            digest.update(payload.duplicate());
            CRC32C crc = new CRC32C();
            crc.update(payload.duplicate());
            long number = crc.getValue() << 32 | (long) payload.remaining() << 8 | block.kind();
            blocks.add(number);
            return number;
        }
    }
}
