package dev.faro.merge;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.codec.Codec;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.BlockSeal;
import dev.faro.internal.bytes.HeaderBytes;
import dev.faro.internal.message.MessageBuilder;
import dev.faro.internal.reader.FileDictionaries;
import dev.faro.internal.reader.OutputReader;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Reader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The parts of a fragment (FRG-2), one after another into a stream: its beginning, each block, the end block. Which
 * blocks these are is the caller's choice.
 */
final class FragmentParts {
    /** A number that no block has. */
    static final long ALL = 1L << 32;

    /** The first size of the buffer for a block, in bytes: many are small. */
    private static final int FIRST_BLOCK = 4 << 10;

    private final OutputReader output;
    private final OutputStream to;
    private final FileHeader header;
    private final SortedSet<Integer> named;
    private final BlockSeal seal;
    private ByteBuffer block = ByteBuffer.allocate(FIRST_BLOCK).order(ByteOrder.LITTLE_ENDIAN);
    private long length;

    FragmentParts(Reader reader, OutputStream target, int from, int to, SortedSet<Integer> named) {
        this(reader.output(), target, header(reader, from, to, named), named);
    }

    /**
     * Makes the parts of a fragment.
     *
     * @param output where the schema and the dictionaries are
     * @param named the dictionaries that blocks name
     */
    FragmentParts(OutputReader output, OutputStream target, FileHeader header, SortedSet<Integer> named) {
        this.output = output;
        this.to = target;
        this.named = named;
        this.header = header;
        this.seal = new BlockSeal(header.fileId());
    }

    /** Checks the arguments. Returns the dictionaries that blocks name. */
    static SortedSet<Integer> named(Reader reader, int from, int to, long low, long high) throws FaroException {
        reader.output().checkRange(from, to);
        if (from == to) {
            throw FaroException.invalidArgument("a range of partitions", "an empty one");
        }
        if (reader.header().isMerged()) {
            throw FaroException.invalidArgument("the output of one producer", "a merged file");
        }
        SortedSet<Integer> named = new TreeSet<>();
        if (reader.header().hasDictionaries()) {
            // The dictionaries come first, so the blocks are read twice.
            each(reader, from, to, low, high, (partition, number, blocks) -> {
                if (blocks.dictionary() != 0) {
                    named.add(blocks.dictionary());
                }
            });
        }
        return named;
    }

    /** The header of FRG-6. */
    private static FileHeader header(Reader reader, int from, int to, SortedSet<Integer> named) {
        FileHeader own = reader.header();
        return new FileHeader(FileKind.FRAGMENT, own.versionMinor(), own.framing(), to - from, from,
                named.isEmpty() ? 0 : FileHeader.DICTIONARIES, own.writerFeatures(), own.producer(), own.attempt(),
                own.fileId());
    }

    /** Gets the wanted blocks. */
    interface Taker {
        void take(int partition, long number, BlockCursor blocks) throws FaroException;
    }

    /** Passes each wanted block. Returns whether no partition of them has a further block. */
    static boolean each(Reader reader, int from, int to, long low, long high, Taker taker)
            throws FaroException {
        boolean last = true;
        for (int partition = from; partition < to; partition++) {
            try (BlockCursor blocks = reader.partition(partition)) {
                last &= each(partition, blocks, low, high, taker);
            }
        }
        return last;
    }

    private static boolean each(int partition, BlockCursor blocks, long low, long high, Taker taker)
            throws FaroException {
        boolean any = false;
        for (long number = 0; blocks.next(); number++) {
            if (number >= high) {
                return !any;
            }
            if (number >= low) {
                any = true;
                taker.take(partition, number, blocks);
            }
        }
        return true;
    }

    /** Header, schema and dictionaries. */
    void begin() throws FaroException {
        send(HeaderBytes.encode(header), FileHeader.SIZE);
        ByteBuffer schema = output.schema();
        if (schema != null) {
            byte[] arrow = new byte[schema.remaining()];
            schema.duplicate().get(arrow);
            ByteBuffer message = MessageBuilder.schema(arrow);
            metadata(BlockKind.SCHEMA, 0, 0, message);
        }
        for (int number : named) {
            BlockReader found =
                    FileDictionaries.find(output.files(), output.limits(), output.directory(), number);
            metadata(BlockKind.DICTIONARY, number - 1, number, found.storedPayload());
        }
    }

    void block(int partition, long number, BlockReader source) throws FaroException {
        int size = room(source.storedSize());
        source.copyTo(block, 0);
        BlockSeal.number(block, 0, partition, number);
        BlockSeal.checksum(block, 0, source.movedChecksum(seal, block, 0));
        send(block, size);
    }

    private void metadata(int kind, long sequence, int dictionary, ByteBuffer payload) throws FaroException {
        int stored = payload.limit();
        room(stored);
        block.put(BlockHeader.SIZE, payload, 0, stored);
        send(block, seal.seal(block, 0, stored, stored, BlockHeader.NO_PARTITION, sequence, kind, Codec.NONE,
                dictionary));
    }

    /** Makes room for a block; its size. */
    private int room(int stored) {
        int size = (int) BlockHeader.sizeInFile(stored);
        if (block.capacity() < size) {
            block = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        }
        return size;
    }

    /** FRG-3. */
    FragmentSummary end(long blocks, boolean last) throws FaroException {
        if (blocks >= ALL) {
            throw FaroException.limitExceeded("fewer than 2^32 blocks in a fragment", blocks);
        }
        long before = length;
        ByteBuffer payload = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
        payload.putLong(before).putInt((int) blocks).putInt(last ? 1 : 0).flip();
        metadata(BlockKind.FRAGMENT_END, 0, 0, payload);
        return new FragmentSummary(blocks, before, last);
    }

    private void send(ByteBuffer bytes, int size) throws FaroException {
        try {
            to.write(bytes.array(), bytes.arrayOffset(), size);
            length += size;
        } catch (FaroException e) {
            throw e;
        } catch (IOException e) {
            throw FaroException.ioInStorage(dev.faro.FileRole.FRAGMENT, "fragment", "to write to the stream", e);
        }
    }
}
