package dev.faro.merge;

import dev.faro.BlockKind;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.Framing;
import dev.faro.Limits;
import dev.faro.codec.DictionaryDigest;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockReader;
import dev.faro.internal.block.ByteSource;
import dev.faro.internal.block.Context;
import dev.faro.internal.block.Dictionaries;
import dev.faro.internal.block.Payloads;
import dev.faro.internal.bytes.HeaderBytes;
import dev.faro.internal.message.Fields;
import dev.faro.internal.message.MessageKind;
import dev.faro.internal.message.TableView;
import dev.faro.internal.message.Verifier;
import dev.faro.internal.storage.InputFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;

/**
 * Checks a fragment while its bytes arrive, in pieces of any size (FRG-4). Offsets count from the fragment's first byte.
 * For one thread.
 */
final class Intake {
    private static final int KIND = BlockHeader.KIND;
    private static final int DICTIONARY = KIND + 2;
    /** The payload of the end block: length, blocks, flags (FRG-3). */
    private static final int END_SIZE = 16;
    private static final int NO_NUMBER = -1;
    /** The least size of the buffer for parts that arrive in pieces, in bytes. */
    private static final int LEAST_CARRY = 4 << 10;
    /** The largest buffer that is kept for the next fragment, in bytes. */
    private static final int MOST_KEPT = 1 << 20;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0).order(ByteOrder.LITTLE_ENDIAN);

    /** What a part of a fragment is. */
    enum Part {
        HEADER, SCHEMA, DICTIONARY, BLOCK, END
    }

    private final Limits limits;
    private final InputFile fragment = FragmentFile.INPUT;
    private final Bytes source = new Bytes();
    private final Known known = new Known();
    /** The bytes of a part that has not arrived whole, or of the part that was returned last. */
    private ByteBuffer carry;
    private int carried;
    private boolean used;
    private long at;
    private FileHeader header;
    private BlockReader blocks;
    private byte[] schema;
    private int lastPartition = NO_NUMBER;
    private long lastNumber;
    private long count;
    private boolean ended;
    private boolean last;

    /**
     * Makes the checks of one fragment.
     *
     * @param spare what {@link #giveBuffer} of another one returned, or null
     */
    Intake(Limits limits, ByteBuffer spare) {
        this.limits = limits;
        this.carry = spare == null ? NOTHING : spare;
    }

    /** The buffer for another intake, or null if there is none worth keeping. This one is not used after that. */
    ByteBuffer giveBuffer() {
        ByteBuffer own = carry;
        carry = NOTHING;
        return own.capacity() == 0 || own.capacity() > MOST_KEPT ? null : own;
    }

    /** The bytes of the current part, at their place in the fragment. */
    private static final class Bytes implements ByteSource {
        private ByteBuffer buffer;
        private long base;

        @Override
        public ByteBuffer buffer() {
            return buffer;
        }

        @Override
        public int ensure(long offset, int size, long aheadEnd) {
            return (int) (offset - base);
        }

        @Override
        public void clear() {}

        @Override
        public void release() {}
    }

    /** The dictionaries of the fragment, by their numbers in the output. */
    private static final class Known implements Dictionaries {
        private final Map<Integer, byte[]> contents = new HashMap<>();
        private final Map<Integer, Long> offsets = new HashMap<>();
        private final Map<Integer, DictionaryDigest> digests = new HashMap<>();
        private int highest;
        /** What {@link #before} answers, so that exactly the right numbers pass check 10b. */
        private int before;

        @Override
        public int before(long offset) {
            return before;
        }

        @Override
        public DictionaryDigest digest(int number) throws FaroException {
            DictionaryDigest digest = digests.get(number);
            if (digest == null) {
                digest = DictionaryDigest.of(contents.get(number));
                if (digest == null) {
                    throw FragmentFile.INPUT.fault(ErrorCode.MALFORMED_BLOCK, offsets.get(number) + BlockHeader.SIZE,
                            "a dictionary that the decoder accepts", "one that it refuses");
                }
                digests.put(number, digest);
            }
            return digest;
        }
    }

    /** The header, or null before it has passed its checks. */
    FileHeader header() {
        return header;
    }

    /** The last block, after the part that has it. */
    BlockReader blocks() {
        return blocks;
    }

    /** The encapsulated Arrow schema message, or null. */
    byte[] schema() {
        return schema;
    }

    /** The bytes of a dictionary that has passed. */
    byte[] dictionary(int number) {
        return known.contents.get(number);
    }

    /** Where the next part begins. */
    long at() {
        return at;
    }

    boolean ended() {
        return ended;
    }

    /** What the end block says. */
    boolean last() {
        return last;
    }

    /**
     * Checks that the end block has arrived.
     *
     * @throws FaroException {@code truncated}, or the fault of the header
     */
    void checkEnded() throws FaroException {
        if (ended) {
            return;
        }
        int left = used ? 0 : carried;
        if (header == null) {
            HeaderBytes.parse(carry.slice(0, left).order(ByteOrder.LITTLE_ENDIAN), fragment);
        }
        long size = at + left;
        throw fragment.fault(ErrorCode.TRUNCATED, size, "a fragment with its end block", size + " bytes");
    }

    /**
     * Moves to the next part, if it is whole. Takes bytes from {@code input}: all of them, unless it returns a part, or
     * the fragment has ended.
     *
     * @return null if there is none
     * @throws FaroException the first check that fails
     */
    Part next(ByteBuffer input) throws FaroException {
        if (used) {
            carried = 0;
            used = false;
        }
        if (ended) {
            return null;
        }
        return header == null ? nextHeader(input) : nextBlock(input);
    }

    private Part nextHeader(ByteBuffer input) throws FaroException {
        boolean direct = carried == 0 && input.remaining() >= FileHeader.SIZE;
        if (!direct && !carryUntil(FileHeader.SIZE, input)) {
            return null;
        }
        ByteBuffer bytes = direct ? input.slice(input.position(), FileHeader.SIZE) : carry.slice(0, FileHeader.SIZE);
        FileHeader found = HeaderBytes.parse(bytes.order(ByteOrder.LITTLE_ENDIAN), fragment);
        HeaderBytes.checkKind(found, FileKind.FRAGMENT, fragment);
        HeaderBytes.checkOfFragment(found, fragment);
        header = found;
        blocks = BlockReader.ofExtents(fragment, found.fileId(), limits, true, source)
                .with(found.hasDictionaries() ? known : null);
        if (direct) {
            input.position(input.position() + FileHeader.SIZE);
        }
        used = !direct;
        at = FileHeader.SIZE;
        return Part.HEADER;
    }

    private Part nextBlock(ByteBuffer input) throws FaroException {
        boolean direct = carried == 0 && input.remaining() >= BlockHeader.SIZE;
        if (!direct && !carryUntil(BlockHeader.SIZE, input)) {
            return null;
        }
        show(direct, input);
        Context context = context();
        int size = (int) blocks.sizeOfPart(at, context);
        if (direct && input.remaining() < size || !direct) {
            if (!carryUntil(size, input)) {
                return null;
            }
            direct = false;
            used = true;
            show(false, input);
        }
        Part part = check(context);
        if (direct) {
            input.position(input.position() + size);
        }
        at += size;
        return part;
    }

    /** Lets the block reader see the bytes from {@link #at} on. */
    private void show(boolean direct, ByteBuffer input) {
        if (direct) {
            source.buffer = input.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
            source.base = at - input.position();
        } else {
            source.buffer = carry.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
            source.base = at;
        }
    }

    /** Moves bytes to those of the part that has not arrived whole, until they are {@code size}; whether they are. */
    private boolean carryUntil(int size, ByteBuffer input) {
        int taken = Math.min(Math.max(0, size - carried), input.remaining());
        // Memory is taken only for bytes that have arrived.
        if (carried + taken > carry.capacity()) {
            long wanted = Math.max(Math.max(carried + taken, LEAST_CARRY), 2L * carry.capacity());
            int capacity = (int) Math.min(Integer.MAX_VALUE - 8L, wanted);
            carry = allocate(capacity).put(0, carry, 0, carried);
        }
        carry.put(carried, input, input.position(), taken);
        input.position(input.position() + taken);
        carried += taken;
        return carried >= size;
    }

    /** Direct, as decoders want it. */
    private static ByteBuffer allocate(int size) {
        return ByteBuffer.allocateDirect(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The context of the next block (CTX-1). */
    private Context context() {
        boolean before = lastPartition == NO_NUMBER;
        if (header.framing() == Framing.ARROW && at == FileHeader.SIZE) {
            return Context.SCHEMA;
        }
        return new Context(true, false, false, false, before && header.hasDictionaries(), false, !before);
    }

    private Part check(Context context) throws FaroException {
        int index = (int) (at - source.base);
        ByteBuffer bytes = source.buffer;
        int kind = bytes.get(index + KIND) & 0xFF;
        int dictionary = bytes.getShort(index + DICTIONARY) & 0xFFFF;
        boolean isDictionary = kind == BlockKind.DICTIONARY && context.dictionary();
        if (isDictionary && known.contents.size() >= limits.maxDictionaries()) {
            throw fragment.fault(ErrorCode.LIMIT_EXCEEDED, at, "at most " + limits.maxDictionaries() + " dictionaries",
                    "one more");
        }
        if (kind == BlockKind.DICTIONARY) {
            known.before = dictionary > known.highest ? dictionary - 1 : known.highest;
        } else {
            known.before = dictionary == 0 || known.contents.containsKey(dictionary) ? 0xFFFF : dictionary - 1;
        }
        long exactly = -1;
        if (kind == BlockKind.SCHEMA || kind == BlockKind.FRAGMENT_END) {
            exactly = 0;
        } else if (isDictionary && dictionary > 0) {
            exactly = dictionary - 1;
        } else if (!BlockKind.isMetadata(kind) && bytes.getInt(index + BlockHeader.PARTITION) == lastPartition) {
            exactly = lastNumber + 1;
        }
        int first = header.firstPartition();
        blocks.readPart(at, context, Math.max(first, lastPartition), first + header.partitionCount(), exactly);
        return switch (kind) {
            case BlockKind.SCHEMA -> {
                schema = readSchema();
                yield Part.SCHEMA;
            }
            case BlockKind.DICTIONARY -> {
                blocks.checkDictionaryBytes();
                known.highest = dictionary;
                known.contents.put(dictionary, bytes(blocks.storedPayload()));
                known.offsets.put(dictionary, at);
                yield Part.DICTIONARY;
            }
            case BlockKind.FRAGMENT_END -> {
                readEnd();
                yield Part.END;
            }
            default -> {
                lastPartition = blocks.partition();
                lastNumber = blocks.sequence();
                if (++count > 0xFFFFFFFFL) {
                    throw fragment.fault(ErrorCode.LIMIT_EXCEEDED, at, "fewer than 2^32 blocks", "one more");
                }
                yield Part.BLOCK;
            }
        };
    }

    private byte[] readSchema() throws FaroException {
        ByteBuffer message = blocks.message();
        long offset = at + BlockHeader.SIZE;
        Verifier.check(message, MessageKind.SCHEMA, header.newerMinor(), fragment, offset);
        ByteBuffer arrow = TableView.root(message).bytes(Fields.SCHEMA_ARROW, 1);
        if (!Payloads.isArrowMessage(arrow)) {
            throw fragment.fault(ErrorCode.MALFORMED_MESSAGE, offset, "an encapsulated Arrow message", "other bytes");
        }
        return bytes(arrow);
    }

    /** Checks 8 and 9 of FRG-4. */
    private void readEnd() throws FaroException {
        ByteBuffer end = blocks.storedPayload();
        if (end.remaining() != END_SIZE) {
            throw fragment.fault(ErrorCode.MALFORMED_BLOCK, at, "an end block with 16 bytes", end.remaining());
        }
        long length = end.getLong();
        long given = end.getInt() & 0xFFFFFFFFL;
        int flags = end.getInt();
        if (length != at || given != count || count == 0 || (flags & ~1) != 0) {
            throw fragment.fault(ErrorCode.INCONSISTENT_INDEX, at + BlockHeader.SIZE,
                    "an end after " + at + " bytes and " + count + " blocks, with flags 0 or 1",
                    Long.toUnsignedString(length) + " bytes, " + given + " blocks, flags " + flags);
        }
        ended = true;
        last = flags == 1;
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] copy = new byte[buffer.remaining()];
        buffer.duplicate().get(copy);
        return copy;
    }
}
