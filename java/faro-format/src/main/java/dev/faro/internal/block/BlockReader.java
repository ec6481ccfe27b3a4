package dev.faro.internal.block;

import dev.faro.BlockKind;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.Framing;
import dev.faro.Limits;
import dev.faro.MemoryBudget;
import dev.faro.codec.Codec;
import dev.faro.codec.DecodeException;
import dev.faro.codec.Decoder;
import dev.faro.codec.DictionaryDigest;
import dev.faro.internal.bytes.Checksum;
import dev.faro.internal.storage.InputFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/**
 * Reads and checks the blocks of one file, one at a time, in the order of BLK-7, which includes BLK-4 and BLK-5. The
 * fields are those of the last block. Not safe for use by several threads at once.
 */
public final class BlockReader extends BlockFields {
    /** Accepts any sequence. */
    public static final Sequence ANY_SEQUENCE = new Sequence(-1, -1);

    private final InputFile file;
    private final Limits limits;
    private final boolean verify;
    private final ByteSource source;
    private final BlockChecksum checksum;
    /** The dictionaries that blocks may use; null in a file without the reader feature. */
    private Dictionaries dictionaries;
    private ByteBuffer bytes;
    private int at;

    private BlockReader(InputFile file, UUID fileId, Limits limits, boolean verify, ByteSource source) {
        this.file = file;
        this.limits = limits;
        this.verify = verify;
        this.source = source;
        this.checksum = new BlockChecksum(fileId);
    }

    /** Makes a reader of partition blocks. Without {@code verify} it does not verify their checksums (INT-7). */
    public static BlockReader ofExtents(InputFile file, UUID fileId, Limits limits, boolean verify) {
        return ofExtents(file, fileId, limits, verify, (MemoryBudget) null);
    }

    /**
     * Makes a reader of partition blocks, as {@link #ofExtents(InputFile, UUID, Limits, boolean)} does.
     *
     * @param budget is asked for memory to read ahead; null if everything is granted
     */
    public static BlockReader ofExtents(
            InputFile file, UUID fileId, Limits limits, boolean verify, MemoryBudget budget) {
        return new BlockReader(file, fileId, limits, verify, new FileWindow(file, true, budget));
    }

    /** Makes a reader of partition blocks that takes their bytes from {@code source}. */
    public static BlockReader ofExtents(InputFile file, UUID fileId, Limits limits, boolean verify, ByteSource source) {
        return new BlockReader(file, fileId, limits, verify, source);
    }

    /** Makes a reader of metadata blocks, also for walks over all blocks of a file. */
    public static BlockReader ofMetadata(InputFile file, UUID fileId, Limits limits) {
        return new BlockReader(file, fileId, limits, true, new FileWindow(file, false, null));
    }

    /**
     * Sets the dictionaries that blocks may use. Without this call the file is read as one without the reader feature
     * {@code dictionaries}.
     *
     * @param fileDictionaries null for a file without the reader feature
     */
    public BlockReader with(Dictionaries fileDictionaries) {
        dictionaries = fileDictionaries;
        return this;
    }

    /** Discards bytes that were read ahead, because the file may have changed. */
    public void refresh() {
        source.clear();
    }

    /** Gives the buffer back; the last block is forgotten, and the next one takes a new buffer. */
    public void release() {
        bytes = null;
        source.release();
    }

    /** The size of its buffer in bytes. */
    public long memory() {
        return source.memory();
    }

    /** Whether bytes 16 to 23 of the block at {@code from} are zero. The caller has checked that the file has them. */
    public boolean seemsZero(long from, long aheadEnd) throws FaroException {
        int index = source.ensure(from, BlockHeader.SIZE, aheadEnd);
        return source.buffer().getLong(index + BlockHeader.KIND) == 0;
    }

    /**
     * Reads the block at {@code from} within [from, end) and makes the checks 1 to 11. In a context that allows both
     * metadata and data, the expected partition and sequence apply to metadata only (FOL-4).
     *
     * @param aheadEnd bytes before this offset may be read with the same system call
     * @param expectedPartition the number of a partition, or {@link BlockHeader#NO_PARTITION}
     * @throws FaroException the first check that fails, {@code truncated} or {@code io}
     */
    public void read(
            long from, long end, long aheadEnd, Context context, int expectedPartition, Sequence expectedSequence)
            throws FaroException {
        read(from, end, aheadEnd, context, expectedPartition, expectedSequence.exactly(), expectedSequence.above());
    }

    /** The same, with the parts of a {@link Sequence}, so that reading millions of blocks makes no objects. */
    public void read(
            long from, long end, long aheadEnd, Context context, int expectedPartition, long exactly, long above)
            throws FaroException {
        long storedSize = claim(from, end, aheadEnd);
        if (BlockHeader.sizeInFile(storedSize) > end - from) {
            throw fault(ErrorCode.MALFORMED_BLOCK, 0, "a block of at most " + (end - from) + " bytes",
                    BlockHeader.sizeInFile(storedSize));
        }
        load(storedSize, aheadEnd, context);
        if (verify || context.metadata()) {
            int computed = computeChecksum();
            if (computed != givenChecksum()) {
                throw checksumFault(computed);
            }
        }
        checkFields(context);
        checkPosition(context, expectedPartition, exactly, above);
        checkPadding();
    }

    /**
     * The size of the block of a fragment at {@code from}, in bytes, after check 3 (FRG-4). Its header is in memory.
     *
     * @throws FaroException {@code limit-exceeded}
     */
    public long sizeOfPart(long from, Context context) throws FaroException {
        long storedSize = claim(from, Long.MAX_VALUE, from);
        checkStoredSize(storedSize, context);
        return BlockHeader.sizeInFile(storedSize);
    }

    /**
     * Reads a block of a fragment, which is in memory, and makes checks 3 to 11 of BLK-7 (FRG-4, CTX-3).
     *
     * @param least the lowest partition that a partition block may have
     * @param end the partition after the highest one
     * @param exactly the sequence, or -1 if any is allowed
     * @throws FaroException the first check that fails
     */
    public void readPart(long from, Context context, int least, int end, long exactly) throws FaroException {
        load(claim(from, Long.MAX_VALUE, from), from, context);
        int computed = computeChecksum();
        if (computed != givenChecksum()) {
            throw checksumFault(computed);
        }
        checkFields(context);
        partition = bytes.getInt(at + BlockHeader.PARTITION);
        sequence = bytes.getInt(at + BlockHeader.SEQUENCE) & 0xFFFFFFFFL;
        boolean metadata = BlockKind.isMetadata(kind);
        if (metadata ? partition != BlockHeader.NO_PARTITION : partition < least || partition >= end) {
            throw fault(ErrorCode.INCONSISTENT_INDEX, BlockHeader.PARTITION,
                    metadata ? "no partition" : "a partition from " + least + " on and below " + end,
                    Integer.toUnsignedString(partition));
        }
        if (exactly >= 0 && sequence != exactly) {
            throw fault(ErrorCode.INCONSISTENT_INDEX, BlockHeader.SEQUENCE, "sequence " + exactly, sequence);
        }
        checkDictionary();
        checkPadding();
    }

    /** The checksum that the last block has, if it is moved to another file with another header (BLK-9). */
    public int movedChecksum(BlockSeal to, ByteBuffer header, int headerAt) {
        return to.moved(checksum, bytes, at, header, headerAt, givenChecksum(), stored);
    }

    /** Copies the last block, from its header to its padding, to an index of another buffer. */
    public void copyTo(ByteBuffer target, int index) {
        target.put(index, bytes, at, (int) BlockHeader.sizeInFile(stored));
    }

    /**
     * Reads a block of a file that may grow (FOL-2), as {@link #read} does in a context for metadata. If the block
     * seems to be incomplete, its header must be valid in this context before its size is believed.
     *
     * @param size the current size of the file
     * @param following the number of bytes that may follow a block that is incomplete nevertheless (REP-1)
     * @return false if the block is not complete yet
     * @throws FaroException the first check that fails, {@code truncated} or {@code io}
     */
    public boolean readIfThere(
            long from, long size, int following, Context context, int expectedPartition, Sequence expectedSequence)
            throws FaroException {
        if (size - from < BlockHeader.SIZE) {
            return false;
        }
        long storedSize = claim(from, size, size);
        checkDictionaryCount(context);
        long left = size - from - BlockHeader.sizeInFile(storedSize);
        boolean complete = false;
        if (left < 0) {
            checkStoredSize(storedSize, context);
        } else {
            load(storedSize, size, context);
            int computed = computeChecksum();
            complete = computed == givenChecksum();
            if (!complete && left > 0) {
                // If more bytes follow, a wrong checksum is reported before any other fault.
                if (left > following || !isAllowed(context, expectedPartition, expectedSequence)) {
                    throw checksumFault(computed);
                }
                return false;
            }
        }
        checkFields(context);
        checkPosition(context, expectedPartition, expectedSequence.exactly(), expectedSequence.above());
        if (complete) {
            checkPadding();
        }
        return complete;
    }

    /** Whether the checks 5 to 10 pass. */
    private boolean isAllowed(Context context, int expectedPartition, Sequence expectedSequence) {
        try {
            checkFields(context);
            checkPosition(context, expectedPartition, expectedSequence.exactly(), expectedSequence.above());
            return true;
        } catch (FaroException e) {
            return false;
        }
    }

    /** Makes check 1, and returns the stored size that the header claims. */
    private long claim(long from, long end, long aheadEnd) throws FaroException {
        offset = from;
        if (end - from < BlockHeader.SIZE) {
            throw fault(ErrorCode.MALFORMED_BLOCK, 0, "a block of 24 bytes or more", (end - from) + " bytes");
        }
        at = source.ensure(from, BlockHeader.SIZE, aheadEnd);
        bytes = source.buffer();
        return bytes.getInt(at + BlockHeader.STORED_SIZE) & 0xFFFFFFFFL;
    }

    /** Whether the block at {@code from} claims to be a dictionary; false if its header is incomplete. */
    public boolean claimsDictionary(long from, long end) throws FaroException {
        if (dictionaries == null || end - from < BlockHeader.SIZE) {
            return false;
        }
        claim(from, end, end);
        return (bytes.get(at + BlockHeader.KIND) & 0xFF) == BlockKind.DICTIONARY;
    }

    /** The partition that the block at {@code from} claims; that of shared blocks if its header is incomplete. */
    public int claimedPartition(long from, long end) throws FaroException {
        if (end - from < BlockHeader.SIZE) {
            return BlockHeader.NO_PARTITION;
        }
        claim(from, end, end);
        return bytes.getInt(at + BlockHeader.PARTITION);
    }

    /**
     * Refuses a block that claims to be a dictionary if the file has as many as it may have (DIC-5). This comes before
     * all other checks of the block.
     */
    public void checkDictionaryCount(Context context) throws FaroException {
        boolean claims = context.dictionary() && (bytes.get(at + BlockHeader.KIND) & 0xFF) == BlockKind.DICTIONARY;
        if (claims && dictionaries != null && dictionaries.before(offset) >= limits.maxDictionaries()) {
            throw fault(
                    ErrorCode.LIMIT_EXCEEDED, 0, "at most " + limits.maxDictionaries() + " dictionaries", "one more");
        }
    }

    /** Makes check 3. */
    private void checkStoredSize(long storedSize, Context context) throws FaroException {
        kind = bytes.get(at + BlockHeader.KIND) & 0xFF;
        boolean metadata = context.metadata() && (!context.data() || BlockKind.isMetadata(kind));
        long max = kind == BlockKind.DICTIONARY && context.dictionary() ? limits.maxDictionarySize()
                : metadata ? limits.maxMessageSize() : limits.maxBlockSize();
        if (storedSize > max) {
            throw fault(ErrorCode.LIMIT_EXCEEDED, 0, "a stored size of at most " + max, storedSize);
        }
        stored = (int) storedSize;
    }

    /** Makes check 3, and loads the whole block into the window. */
    private void load(long storedSize, long aheadEnd, Context context) throws FaroException {
        checkStoredSize(storedSize, context);
        at = source.ensure(offset, (int) BlockHeader.sizeInFile(storedSize), aheadEnd);
        bytes = source.buffer();
    }

    private int computeChecksum() {
        return checksum.of(bytes, at, stored);
    }

    private int givenChecksum() {
        return bytes.getInt(at + BlockHeader.CHECKSUM);
    }

    private FaroException checksumFault(int computed) {
        return fault(ErrorCode.CHECKSUM, 0, Checksum.stored(givenChecksum()), Checksum.computed(computed));
    }

    /** Makes checks 5 to 8. Plain data in an extent, which nearly all blocks are, takes a short cut. */
    private void checkFields(Context context) throws FaroException {
        if (context == Context.EXTENT && bytes.getInt(at + BlockHeader.KIND) == 0) {
            plain = bytes.getInt(at + BlockHeader.PLAIN_SIZE);
            if (plain == stored && plain > 0 && plain <= limits.maxPlainSize()) {
                kind = BlockKind.DATA;
                codec = Codec.NONE;
                dictionary = 0;
                return;
            }
        }
        dictionary = bytes.getShort(at + BlockHeader.DICTIONARY) & 0xFFFF;
        if (dictionary != 0 && dictionaries == null) {
            throw fault(
                    ErrorCode.MALFORMED_BLOCK, BlockHeader.DICTIONARY, "no dictionary without the feature", dictionary);
        }
        kind = bytes.get(at + BlockHeader.KIND) & 0xFF;
        boolean unknown = kind > BlockKind.FRAGMENT_END && kind < BlockKind.FIRST_SKIPPABLE
                || kind == BlockKind.DICTIONARY && dictionaries == null;
        if (context.metadata() && unknown) {
            throw fault(ErrorCode.UNSUPPORTED_FEATURE, BlockHeader.KIND, "a known kind of metadata", kind);
        }
        if (!context.allows(kind)) {
            throw fault(ErrorCode.MALFORMED_BLOCK, BlockHeader.KIND, "a kind that is allowed here", kind);
        }
        int number = bytes.get(at + BlockHeader.CODEC) & 0xFF;
        codec = Codec.of(number);
        if (codec == null) {
            throw fault(ErrorCode.UNSUPPORTED_CODEC, BlockHeader.CODEC, "codec 0, 1 or 2", number);
        }
        if (codec != Codec.NONE && kind != BlockKind.DATA) {
            throw fault(ErrorCode.MALFORMED_BLOCK, BlockHeader.CODEC, "codec none", number);
        }
        if (dictionary != 0 && codec != Codec.ZSTD && kind != BlockKind.DICTIONARY) {
            throw fault(
                    ErrorCode.MALFORMED_BLOCK, BlockHeader.DICTIONARY, "no dictionary without Zstandard", dictionary);
        }
        long plainSize = bytes.getInt(at + BlockHeader.PLAIN_SIZE) & 0xFFFFFFFFL;
        if (codec == Codec.NONE ? plainSize != stored : plainSize <= stored) {
            throw fault(ErrorCode.MALFORMED_BLOCK, BlockHeader.PLAIN_SIZE,
                    "a plain size that fits the stored size " + stored, plainSize);
        }
        if (kind == BlockKind.DATA && plainSize == 0) {
            throw fault(ErrorCode.MALFORMED_BLOCK, BlockHeader.PLAIN_SIZE, "a data block that is not empty", 0);
        }
        if (!BlockKind.isMetadata(kind) && plainSize > limits.maxPlainSize()) {
            throw fault(ErrorCode.LIMIT_EXCEEDED, BlockHeader.PLAIN_SIZE,
                    "a plain size of at most " + limits.maxPlainSize(), plainSize);
        }
        plain = (int) plainSize;
    }

    /** Makes checks 9 and 10. */
    private void checkPosition(Context context, int expectedPartition, long exactly, long above) throws FaroException {
        partition = bytes.getInt(at + BlockHeader.PARTITION);
        sequence = bytes.getInt(at + BlockHeader.SEQUENCE) & 0xFFFFFFFFL;
        if (context.metadata() && !BlockKind.isMetadata(kind)) {
            checkDictionary();
            return;
        }
        if (partition != expectedPartition) {
            throw fault(ErrorCode.INCONSISTENT_INDEX, BlockHeader.PARTITION,
                    "partition " + Integer.toUnsignedString(expectedPartition),
                    Integer.toUnsignedString(partition));
        }
        if (!Sequence.holds(exactly, above, sequence)) {
            String expected = new Sequence(exactly, above).toString();
            throw fault(ErrorCode.INCONSISTENT_INDEX, BlockHeader.SEQUENCE, expected, sequence);
        }
        checkDictionary();
    }

    /** Makes check 10b. */
    private void checkDictionary() throws FaroException {
        if (kind == BlockKind.DICTIONARY) {
            int number = dictionaries.before(offset) + 1;
            if (dictionary != number) {
                throw fault(ErrorCode.INCONSISTENT_INDEX, BlockHeader.DICTIONARY,
                        "dictionary number " + number, dictionary);
            }
        } else if (dictionary != 0 && dictionary > dictionaries.before(offset)) {
            throw fault(ErrorCode.INCONSISTENT_INDEX, BlockHeader.DICTIONARY,
                    "one of the " + dictionaries.before(offset) + " dictionaries before the block", dictionary);
        }
    }

    private void checkPadding() throws FaroException {
        int size = (int) BlockHeader.sizeInFile(stored);
        // The last eight bytes of the block without those of the payload. Java would take a shift by 64 as a shift by
        // 0.
        if (size - BlockHeader.SIZE == stored || bytes.getLong(at + size - 8) >>> 8 * (stored & 7) == 0) {
            return;
        }
        for (int i = BlockHeader.SIZE + stored; i < size; i++) {
            if (bytes.get(at + i) != 0) {
                throw fault(ErrorCode.MALFORMED_BLOCK, i, "padding of zero bytes", bytes.get(at + i) & 0xFF);
            }
        }
    }

    /** Makes a fault of the last block, at a distance in bytes from its beginning. */
    public FaroException fault(ErrorCode code, long distance, String expected, Object found) {
        return file.fault(code, offset + distance, expected, found);
    }

    /**
     * Makes the last check of DIC-4 on the last block, which is a dictionary block.
     *
     * @throws FaroException {@code malformed-block}
     */
    public void checkDictionaryBytes() throws FaroException {
        if (!DictionaryDigest.isDictionary(storedPayload())) {
            throw fault(ErrorCode.MALFORMED_BLOCK, BlockHeader.SIZE,
                    "8 bytes or more that begin with 37 A4 30 EC", "other bytes");
        }
    }

    /** The file that this reads. */
    public InputFile file() {
        return file;
    }

    /** The stored payload as a little-endian view, which is valid until the next read. */
    public ByteBuffer storedPayload() {
        return bytes.slice(at + BlockHeader.SIZE, stored).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * The plain payload, after check 12. For codec {@code none} it is the view of {@link #storedPayload}; otherwise it
     * is in the decoder's memory, and valid until the decoder's next use.
     *
     * @throws FaroException {@code malformed-block} or {@code limit-exceeded} (COD), or a fault of the block's
     *     dictionary (DIC-6)
     */
    public ByteBuffer plainPayload(Decoder decoder) throws FaroException {
        ByteBuffer payload = storedPayload();
        if (codec == Codec.NONE) {
            return payload;
        }
        DictionaryDigest digest = dictionary == 0 ? null : dictionaries.digest(dictionary);
        try {
            return decoder.decode(codec, payload, plain, limits.maxWindowSize(), digest);
        } catch (DecodeException e) {
            ErrorCode code = e.beyondLimit() ? ErrorCode.LIMIT_EXCEEDED : ErrorCode.MALFORMED_BLOCK;
            throw fault(code, BlockHeader.SIZE, "a payload that decodes to " + plain + " bytes", e.getMessage());
        }
    }

    /**
     * Checks that a plain payload has the file's framing (FRM-5).
     *
     * @param payload the result of {@link #plainPayload} for this block
     * @return the number of records in the block; 0 for an event, and with another framing than records
     * @throws FaroException {@code malformed-block}
     */
    public long countRecords(ByteBuffer payload, Framing framing) throws FaroException {
        if (kind != BlockKind.DATA || framing == Framing.OPAQUE) {
            return 0;
        }
        long records = 0;
        if (framing == Framing.RECORDS) {
            records = Payloads.countRecords(payload);
        } else if (!Payloads.isArrowMessage(payload)) {
            records = -1;
        }
        if (records < 0) {
            throw fault(ErrorCode.MALFORMED_BLOCK, BlockHeader.SIZE, "a payload of framing " + framing, "other bytes");
        }
        return records;
    }

    /** A copy of the message that the block contains; little-endian. */
    public ByteBuffer message() {
        ByteBuffer copy = ByteBuffer.allocate(stored).order(ByteOrder.LITTLE_ENDIAN);
        return copy.put(0, bytes, at + BlockHeader.SIZE, stored);
    }
}
