package dev.faro.writer;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.codec.Codec;
import dev.faro.codec.Encoder;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.block.BlockSeal;
import dev.faro.internal.index.Members;
import dev.faro.internal.index.RegionDraft;
import dev.faro.internal.storage.OutputFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Appends the blocks of one region at a time. {@link #begin} says where the caller builds a block's plain payload: at
 * its final place in the file's buffer or, if it is to be compressed, in other memory.
 */
final class RegionBuilder {
    private static final ByteBuffer NO_BYTES = ByteBuffer.allocateDirect(0).order(ByteOrder.LITTLE_ENDIAN);

    /** The highest sequence of a block, so that the next one fits into its field. */
    static final long MOST_SEQUENCE = 0xFFFFFFFEL;

    private final OutputFile file;
    private final Encoder encoder;
    private final BlockSeal seal;
    private final RegionDraft draft;
    private final StreamCounters streams;
    private final boolean timed;
    private long compressNanos;
    private long checksumNanos;
    /** The number of blocks in committed regions. */
    private long blocks;
    private ByteBuffer plain = NO_BYTES;
    private boolean compress;
    private long start;
    /** The plain size of the region's blocks so far, in bytes; that of events is not in the draft. */
    private long plainBytes;
    private int partition;
    private long sequence;

    RegionBuilder(OutputFile file, FileHeader header, StreamCounters streams, Encoder encoder, boolean timed) {
        this.streams = streams;
        this.timed = timed;
        this.file = file;
        this.encoder = encoder;
        this.seal = new BlockSeal(header.fileId());
        this.draft = new RegionDraft(header);
    }

    /** The region so far. */
    RegionDraft draft() {
        return draft;
    }

    /** The plain size of the region's blocks so far, in bytes. */
    long plainBytes() {
        return plainBytes;
    }

    /** The offset of the region in the file. */
    long start() {
        return start;
    }

    /** Begins a region. */
    void beginRegion() {
        draft.clear();
        plainBytes = 0;
        start = file.position();
    }

    void beginOwn(int number) {
        draft.beginOwn(number);
        partition = number;
        sequence = streams.next(number);
    }

    void beginShared(Members members) {
        if (draft.extents() == draft.ownExtents()) {
            sequence = streams.sharedNext();
        }
        draft.beginShared(members);
        partition = BlockHeader.NO_PARTITION;
    }

    /** The sequence of the next block of the current extent. */
    long sequence() {
        return sequence;
    }

    /** The sequence of the next block of a partition that has no extent in the region. */
    long nextOwn(int number) {
        return streams.next(number);
    }

    /** Lets the next block of the current extent have this sequence, which is not below its own. */
    void skipTo(long number) {
        sequence = number;
    }

    /**
     * Reserves space for a plain payload.
     *
     * @return the index in {@link #target} where the payload begins
     */
    int begin(int maxPlain, int kind) throws FaroException {
        compress = kind == BlockKind.DATA && encoder.codec() != Codec.NONE;
        if (!compress) {
            return file.reserve(blockRoom(maxPlain)) + BlockHeader.SIZE;
        }
        if (plain.capacity() < maxPlain) {
            plain = ByteBuffer.allocateDirect(maxPlain).order(ByteOrder.LITTLE_ENDIAN);
        }
        return 0;
    }

    private static int blockRoom(long payload) throws FaroException {
        long room = BlockHeader.sizeInFile(payload);
        if (room > Integer.MAX_VALUE - 64) {
            throw FaroException.limitExceeded("a block that fits into a buffer", payload);
        }
        return (int) room;
    }

    /** The buffer for a plain payload; direct, little-endian. */
    ByteBuffer target() {
        return compress ? plain : file.buffer();
    }

    /** Ends the block with a plain payload at the index that {@link #begin} returned. */
    void end(int plainSize, int kind) throws FaroException {
        if (!compress) {
            append(file.reserve(blockRoom(plainSize)), plainSize, plainSize, kind, Codec.NONE, 0);
            return;
        }
        int at = file.reserve(blockRoom(Math.max(plainSize, encoder.bound(plainSize))));
        long before = timed ? System.nanoTime() : 0;
        int stored = encoder.encode(plain, plainSize, file.buffer(), at + BlockHeader.SIZE);
        compressNanos += timed ? System.nanoTime() - before : 0;
        if (stored < plainSize) {
            append(at, stored, plainSize, kind, encoder.codec(), encoder.dictionaryFor(plainSize));
        } else {
            file.buffer().put(at + BlockHeader.SIZE, plain, 0, plainSize);
            append(at, plainSize, plainSize, kind, Codec.NONE, 0);
        }
    }

    /** Appends a block that is already in its stored form. */
    void stored(StoredBlock block) throws FaroException {
        ByteBuffer payload = block.payload();
        int size = payload.remaining();
        int at = file.reserve(blockRoom(size));
        file.buffer().put(at + BlockHeader.SIZE, payload, payload.position(), size);
        append(at, size, (int) block.plainSize(), block.kind(), block.codec(), block.dictionary());
    }

    private void append(int at, int stored, int plainSize, int kind, Codec codec, int dictionary)
            throws FaroException {
        if (sequence > MOST_SEQUENCE) {
            throw FaroException.limitExceeded("fewer than 2^32 blocks in a stream", "one more");
        }
        long before = timed ? System.nanoTime() : 0;
        int size = seal.seal(file.buffer(), at, stored, plainSize, partition, sequence, kind, codec, dictionary);
        checksumNanos += timed ? System.nanoTime() - before : 0;
        file.advance(size);
        plainBytes += plainSize;
        draft.addBlock(size, kind == BlockKind.DATA ? plainSize : 0, sequence++);
    }

    /** Adds to the number of records in the extent. */
    void addRecords(long records) {
        draft.addRecords(records);
    }

    /** Makes the sequences of the region final; the caller writes its message. */
    void commit() {
        for (int i = 0; i < draft.extents(); i++) {
            blocks += draft.blocks(i);
        }
        streams.commit(draft);
    }

    /** The number of blocks in committed regions. */
    long blocks() {
        return blocks;
    }

    /** The time for compression in nanoseconds, if it is measured. */
    long compressNanos() {
        return compressNanos;
    }

    /** The time for checksums and headers in nanoseconds, if it is measured. */
    long checksumNanos() {
        return checksumNanos;
    }

    /** Releases memory. */
    void release() {
        plain = NO_BYTES;
    }

    /** Removes the region, its bytes and its sequences. */
    void giveUp() throws FaroException {
        file.rewind(start);
        draft.clear();
    }
}
