package dev.faro.fuzz;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileRole;
import dev.faro.Limits;
import dev.faro.merge.FragmentReader;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;

/**
 * What was read of a stream of fragments.
 *
 * @param read the fragments, the last one perhaps in part
 * @param error the error that ended the stream, or null
 */
record FragmentStream(List<One> read, FaroException error) {
    /**
     * A block of a fragment.
     *
     * @param plain a sum of the plain payload; null if it does not decode
     * @param error why it does not
     */
    record Block(int partition, long number, int kind, long offset, String plain, FaroException error) {
        boolean follows(Block before) {
            return before == null || before.partition < partition
                    || before.partition == partition && before.number + 1 == number;
        }
    }

    /** One fragment. */
    static final class One {
        final FileHeader header;
        final List<Block> blocks = new ArrayList<>();
        byte[] schema;
        /** The blocks before the first that does not decode, and the sum of VERDICTS.md over them. */
        int decoded;
        String sum;
        /** Whether it is the last one of its partitions; null if an error came before its end. */
        Boolean last;

        One(FileHeader header) {
            this.header = header;
        }

        Block last() {
            return blocks.isEmpty() ? null : blocks.get(blocks.size() - 1);
        }
    }

    /** Reads a stream of {@code size} bytes up to its first error. */
    static FragmentStream of(InputStream stream, int size, Limits limits) {
        List<One> read = new ArrayList<>();
        try (FragmentReader reader = new FragmentReader(stream, limits)) {
            while (reader.nextFragment()) {
                read.add(new One(reader.header()));
                read(reader, read.get(read.size() - 1), size, limits);
            }
        } catch (FaroException e) {
            return new FragmentStream(read, judged(e, size));
        }
        return new FragmentStream(read, null);
    }

    private static void read(FragmentReader reader, One one, int size, Limits limits) throws FaroException {
        MessageDigest digest = Sums.digest();
        ByteBuffer head = ByteBuffer.allocate(13).order(ByteOrder.LITTLE_ENDIAN);
        long end = one.header.firstPartition() + (long) one.header.partitionCount();
        try {
            while (reader.nextBlock()) {
                Block block = block(reader, size, limits);
                Broken.unless(block.follows(one.last()), "partitions ascend, and the numbers of one are consecutive");
                Broken.unless(block.partition >= one.header.firstPartition() && block.partition < end,
                        "the partitions are those of the header");
                if (one.decoded == one.blocks.size() && block.error == null) {
                    one.decoded++;
                    ByteBuffer plain = reader.payload();
                    head.clear().putInt(block.partition).putInt((int) block.number).put((byte) block.kind);
                    digest.update(head.putInt(plain.remaining()).flip());
                    digest.update(plain.duplicate());
                }
                one.blocks.add(block);
            }
        } finally {
            one.sum = Sums.of(digest);
        }
        if (reader.schemaMessage() != null) {
            one.schema = new byte[reader.schemaMessage().remaining()];
            reader.schemaMessage().get(one.schema);
        }
        one.last = reader.isLast();
    }

    private static Block block(FragmentReader reader, int size, Limits limits) {
        String plain = null;
        FaroException error = null;
        try {
            ByteBuffer payload = reader.payload();
            Broken.unless(payload.remaining() == reader.plainSize(), "the payload has plain_size bytes");
            Broken.unless(payload.remaining() <= limits.maxPlainSize(), "the payload has at most max_plain_size bytes");
            plain = Sums.of(payload);
        } catch (FaroException e) {
            error = judged(e, size);
        }
        return new Block(reader.partition(), reader.number(), reader.kind(), reader.offset(), plain, error);
    }

    /** Checks that an error is one that the bytes of a fragment explain. */
    private static FaroException judged(FaroException e, int size) {
        switch (e.code()) {
            case IO, INVALID_ARGUMENT -> throw new Broken("the error can come from the bytes of a fragment: " + e);
            default -> Broken.unless(e.role() == FileRole.FRAGMENT && e.offset() >= 0 && e.offset() <= size,
                    "the offset is inside the fragment: " + e);
        }
        return e;
    }

    /** Adds the lines of VERDICTS.md. */
    void print(Transcript transcript) {
        for (One one : read) {
            FileHeader header = one.header;
            transcript.line("fragment", Long.toUnsignedString(header.producer()),
                    Long.toUnsignedString(header.attempt()), header.firstPartition(), header.partitionCount());
            FaroException ended = one.decoded < one.blocks.size() ? one.blocks.get(one.decoded).error : error;
            if (one.decoded < one.blocks.size() || one.last == null) {
                transcript.line("blocks", one.decoded, one.sum, ended);
                return;
            }
            transcript.line("blocks", one.decoded, one.sum, one.last ? 1 : 0);
        }
        if (error != null) {
            transcript.line("fragment", error);
        }
    }
}
