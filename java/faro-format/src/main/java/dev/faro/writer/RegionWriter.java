package dev.faro.writer;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.codec.Codec;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.index.Members;
import dev.faro.internal.index.RegionDraft;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Writes one region from blocks in slot order (WRT-8): own blocks by partition, beginning at the rotation, then shared
 * blocks. The caller frames the payloads; they are not checked. A call that is refused leaves the region unchanged.
 * Closing a region that was not ended removes it from the file.
 *
 * <pre>{@code
 * try (RegionWriter region = writer.region()) {
 *     region.block(0, BlockKind.DATA, payload, records);
 *     region.sharedAll();
 *     region.block(BlockKind.DATA, sharedPayload, sharedRecords);
 *     region.end();
 * }
 * }</pre>
 */
public final class RegionWriter implements AutoCloseable {
    /** No sequence is wanted: the next block has the next one. */
    private static final long ANY = -1;

    private final Calls calls;
    private final WriterRegions regions;
    private final RegionBuilder output;
    private final int rotation;
    private final long maxPlain;
    private final Runnable committed;
    private int lastSlot = -1;
    /** The sequence that the caller wants the next block to have. */
    private long wanted = ANY;
    private boolean shared;
    private boolean closed;

    /** @param committed is run when the region was committed */
    RegionWriter(Calls calls, WriterRegions regions, RegionBuilder output, long maxPlain, Runnable committed) {
        this.committed = committed;
        this.calls = calls;
        this.regions = regions;
        this.output = output;
        this.rotation = regions.rotation();
        this.maxPlain = maxPlain;
    }

    /**
     * Writes an own block, compressed as the writer's options say.
     *
     * @param partition the partition, not before the last one in slot order
     * @param kind 0, 1 or 64 to 127 (BLK-2)
     * @param payload the plain payload, from the buffer's position to its limit; it is copied, and the position stays
     * @param records the number of records in the block, for the statistics; ignored for events
     */
    public void block(int partition, int kind, ByteBuffer payload, long records) throws FaroException {
        checkPlain(kind, payload, records);
        int slot = checkOwn(partition, payload.remaining());
        calls.guard(() -> {
            own(partition, slot);
            plain(kind, payload, records);
        });
    }

    /** Writes a block of the current shared extent; see {@link #block(int, int, ByteBuffer, long)}. */
    public void block(int kind, ByteBuffer payload, long records) throws FaroException {
        checkPlain(kind, payload, records);
        checkShared(payload.remaining());
        calls.guard(() -> plain(kind, payload, records));
    }

    /**
     * Writes an own block that is already in its stored form; the payload is not decoded.
     *
     * @param partition the partition, not before the last one in slot order
     * @param block the block; its payload is copied, and the position of the buffer stays
     * @param records the number of records in the block, for the statistics; ignored for events
     */
    public void storedBlock(int partition, StoredBlock block, long records) throws FaroException {
        checkStored(block, records);
        int slot = checkOwn(partition, block.payload().remaining());
        calls.guard(() -> {
            own(partition, slot);
            stored(block, records);
        });
    }

    /** Writes a stored block of the current shared extent; see {@link #storedBlock(int, StoredBlock, long)}. */
    public void storedBlock(StoredBlock block, long records) throws FaroException {
        checkStored(block, records);
        checkShared(block.payload().remaining());
        calls.guard(() -> stored(block, records));
    }

    /**
     * Lets the next block have this sequence, instead of one more than the block before it in its stream: the own blocks
     * of a partition, or all shared blocks. It leaves a gap, for blocks that were consumed elsewhere (BLK-3).
     * <pre>{@code
     * region.sequence(7); // Blocks 0 to 6 of partition 2 were read from memory.
     * region.block(2, BlockKind.DATA, payload, records);
     * }</pre>
     *
     * @throws FaroException {@code invalid-argument} without the option {@link WriterOptions#selective}, and above
     *     2^32 - 2. A block whose sequence is not above that of the block before it is refused by the call that writes it
     */
    public void sequence(long number) throws FaroException {
        checkOpen();
        require(regions.header().selective(), "a writer with the option selective", "one without");
        require(number >= 0 && number <= RegionBuilder.MOST_SEQUENCE, "a sequence of at most 2^32 - 2", number);
        wanted = number;
    }

    /** Begins a shared extent for every partition. */
    public void sharedAll() throws FaroException {
        checkOpen();
        begin(Members.ALL);
    }

    /** Begins a shared extent for a set of partitions, in any order, with or without repetitions. */
    public void shared(int... partitions) throws FaroException {
        checkOpen();
        begin(Members.of(regions.header(), partitions));
    }

    private void begin(Members members) {
        shared = true;
        output.beginShared(members);
    }

    /** Commits the region. A region without blocks leaves nothing in the file. */
    public void end() throws FaroException {
        checkOpen();
        closed = true;
        try {
            calls.guard(regions::commitCallers);
        } finally {
            closed();
        }
        committed.run();
    }

    /** Removes the region, unless it was ended. */
    @Override
    public void close() throws FaroException {
        if (!closed) {
            closed = true;
            try {
                if (calls.isUsable()) {
                    calls.guard(regions::giveUp);
                }
            } finally {
                closed();
            }
        }
    }

    /** Lets the writer accept other calls again. */
    private void closed() {
        calls.regionEnded();
        if (!calls.hasEnded()) {
            regions.holdBack(false);
        }
    }

    private void own(int partition, int slot) {
        if (slot != lastSlot) {
            lastSlot = slot;
            output.beginOwn(partition);
        }
    }

    /** Gives the next block the sequence that the caller wants. */
    private void skip() {
        if (wanted != ANY) {
            output.skipTo(wanted);
            wanted = ANY;
        }
    }

    private void plain(int kind, ByteBuffer payload, long records) throws FaroException {
        skip();
        int size = payload.remaining();
        int at = output.begin(size, kind);
        output.target().put(at, payload, payload.position(), size);
        output.end(size, kind);
        count(kind, records);
    }

    private void stored(StoredBlock block, long records) throws FaroException {
        skip();
        output.stored(block);
        count(block.kind(), records);
    }

    private void count(int kind, long records) {
        if (kind == BlockKind.DATA) {
            output.addRecords(records);
        }
    }

    private void checkOpen() throws FaroException {
        calls.checkUsable();
        if (closed) {
            throw FaroException.invalidArgument("an open region", "a region that was ended or given up");
        }
    }

    private void checkPlain(int kind, ByteBuffer payload, long records) throws FaroException {
        Objects.requireNonNull(payload, "payload");
        checkOpen();
        check(kind, payload.remaining(), records);
    }

    /** Makes checks 5 to 8 and 10b of BLK-7 (WRT-9). */
    private void checkStored(StoredBlock block, long records) throws FaroException {
        Objects.requireNonNull(block, "block");
        checkOpen();
        int kind = block.kind();
        Codec codec = block.codec();
        int dictionary = block.dictionary();
        long plainSize = block.plainSize();
        check(kind, plainSize, records);
        require(codec != null, "a codec", "null");
        require(codec == Codec.NONE || kind == BlockKind.DATA, "codec none", codec);
        require(dictionary == 0 || codec == Codec.ZSTD, "no dictionary without Zstandard", dictionary);
        require(dictionary >= 0 && dictionary <= regions.dictionaryCount(), "a dictionary of the file", dictionary);
        int size = block.payload().remaining();
        require(codec == Codec.NONE ? plainSize == size : plainSize > size,
                "a plain size that fits the stored size", plainSize);
    }

    private void check(int kind, long plainSize, long records) throws FaroException {
        RecordRules.checkKind(kind);
        require(kind != BlockKind.DATA || plainSize >= 1, "a data block that is not empty", plainSize);
        require(plainSize <= maxPlain, "at most " + maxPlain + " plain bytes", plainSize);
        require(records >= 0, "a number of records", records);
    }

    /** Checks a partition, and returns its slot. */
    private int checkOwn(int partition, int size) throws FaroException {
        FileHeader header = regions.header();
        require(header.has(partition), "a partition of the file", partition);
        require(!shared, "no own block after a shared extent", partition);
        int relative = partition - header.firstPartition();
        int slot = relative >= rotation ? relative - rotation : relative + header.partitionCount() - rotation;
        require(slot >= lastSlot, "blocks in slot order", partition);
        checkSequence(slot == lastSlot ? output.sequence() : output.nextOwn(partition));
        checkRoom(size);
        return slot;
    }

    private void checkShared(int size) throws FaroException {
        require(shared, "a partition, or a current shared extent", "neither");
        checkSequence(output.sequence());
        checkRoom(size);
    }

    private void checkSequence(long next) throws FaroException {
        require(wanted == ANY || wanted >= next, "a sequence of " + next + " or more", wanted);
    }

    /** Checks REG-3; a compressed block is never larger than a plain one. */
    private void checkRoom(int size) throws FaroException {
        long room = RegionDraft.MOST_BYTES - output.draft().bytes();
        if (BlockHeader.sizeInFile(size) > room) {
            throw FaroException.limitExceeded("a region of at most " + RegionDraft.MOST_BYTES + " bytes", size);
        }
    }

    private static void require(boolean holds, String expected, Object found) throws FaroException {
        if (!holds) {
            throw FaroException.invalidArgument(expected, found);
        }
    }
}
