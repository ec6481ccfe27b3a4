package dev.faro.writer;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.codec.Decoder;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.index.Members;
import dev.faro.internal.index.RegionDraft;
import java.nio.ByteBuffer;

/**
 * Takes the blocks of one region in slot order (WRT-8): own blocks by partition, from the rotation on, then shared ones.
 * Payloads are framed by the caller and not checked. A call that is refused leaves the region as it was; closing a region
 * that was not ended gives it up, without a trace in the file.
 */
public final class RegionWriter implements AutoCloseable {
    private final RegionOwner writer;
    private final RegionBuilder output;
    private final int rotation;
    private final long maxPlain;
    private int lastSlot = -1;
    private boolean shared;
    private boolean closed;

    RegionWriter(RegionOwner writer, RegionBuilder output, int rotation, long maxPlain) {
        this.writer = writer;
        this.output = output;
        this.rotation = rotation;
        this.maxPlain = maxPlain;
    }

    /**
     * Takes an own block, compressed as the writer does.
     *
     * @param kind 0, 1 or 64 to 127
     * @param payload its plain payload; what remains of the buffer is copied, its position left as it is
     * @param records what the block counts in the statistics; events count nothing
     */
    public void block(int partition, int kind, ByteBuffer payload, long records) throws FaroException {
        checkPlain(kind, payload, records);
        int slot = checkOwn(partition, payload.remaining());
        writer.guard(() -> {
            own(partition, slot);
            plain(kind, payload, records);
        });
    }

    /** Takes a block of the shared extent that was begun, as {@link #block(int, int, ByteBuffer, long)}. */
    public void block(int kind, ByteBuffer payload, long records) throws FaroException {
        checkPlain(kind, payload, records);
        checkShared(payload.remaining());
        writer.guard(() -> plain(kind, payload, records));
    }

    /** Takes an own block that is stored already, without a dictionary. */
    public void storedBlock(int partition, int kind, int codec, long plainSize, ByteBuffer stored, long records)
            throws FaroException {
        storedBlock(partition, kind, codec, plainSize, stored, records, 0);
    }

    /**
     * Takes an own block that is stored already; its payload is not decoded.
     *
     * @param codec 0 none, 1 LZ4, 2 Zstandard
     * @param plainSize bytes that the payload decodes to
     * @param dictionary number of the dictionary that it is compressed with in this file, as {@link Writer#dictionary}
     *     returned it; 0 without
     */
    public void storedBlock(
            int partition, int kind, int codec, long plainSize, ByteBuffer stored, long records, int dictionary)
            throws FaroException {
        checkStored(kind, codec, plainSize, stored, records, dictionary);
        int slot = checkOwn(partition, stored.remaining());
        writer.guard(() -> {
            own(partition, slot);
            stored(kind, codec, plainSize, stored, records, dictionary);
        });
    }

    /** Takes a stored block of the shared extent that was begun, without a dictionary. */
    public void storedBlock(int kind, int codec, long plainSize, ByteBuffer stored, long records)
            throws FaroException {
        storedSharedBlock(kind, codec, plainSize, stored, records, 0);
    }

    /** Takes a stored block of the shared extent that was begun, as {@link #storedBlock} with a dictionary. */
    public void storedSharedBlock(
            int kind, int codec, long plainSize, ByteBuffer stored, long records, int dictionary)
            throws FaroException {
        checkStored(kind, codec, plainSize, stored, records, dictionary);
        checkShared(stored.remaining());
        writer.guard(() -> stored(kind, codec, plainSize, stored, records, dictionary));
    }

    /** Begins a shared extent for every partition. */
    public void sharedAll() throws FaroException {
        checkOpen();
        begin(Members.ALL);
    }

    /** Begins a shared extent for a set of partitions, in any order; a number may repeat. */
    public void shared(int... partitions) throws FaroException {
        checkOpen();
        begin(Members.of(writer.header(), partitions));
    }

    private void begin(Members members) {
        shared = true;
        output.beginShared(members);
    }

    /** Commits the region; one without blocks leaves nothing. */
    public void end() throws FaroException {
        checkOpen();
        closed = true;
        try {
            writer.guard(writer::commit);
        } finally {
            writer.closed();
        }
    }

    /** Gives the region up, unless it was ended. */
    @Override
    public void close() throws FaroException {
        if (!closed) {
            closed = true;
            try {
                if (writer.isUsable()) {
                    writer.guard(writer::giveUp);
                }
            } finally {
                writer.closed();
            }
        }
    }

    private void own(int partition, int slot) {
        if (slot != lastSlot) {
            lastSlot = slot;
            output.beginOwn(partition);
        }
    }

    private void plain(int kind, ByteBuffer payload, long records) throws FaroException {
        int size = payload.remaining();
        int at = output.begin(size, kind);
        output.target().put(at, payload, payload.position(), size);
        output.end(size, kind);
        count(kind, records);
    }

    private void stored(int kind, int codec, long plainSize, ByteBuffer stored, long records, int dictionary)
            throws FaroException {
        output.stored(stored, (int) plainSize, kind, codec, dictionary);
        count(kind, records);
    }

    private void count(int kind, long records) {
        if (kind == BlockKind.DATA) {
            output.addRecords(records);
        }
    }

    private void checkOpen() throws FaroException {
        writer.checkUsable();
        if (closed) {
            throw FaroException.invalidArgument("a region that is open", "one that was ended or given up");
        }
    }

    private void checkPlain(int kind, ByteBuffer payload, long records) throws FaroException {
        checkOpen();
        check(kind, payload.remaining(), records);
    }

    /** Checks 5 to 8 and 10b of BLK-7 (WRT-9). */
    private void checkStored(int kind, int codec, long plainSize, ByteBuffer stored, long records, int dictionary)
            throws FaroException {
        checkOpen();
        check(kind, plainSize, records);
        require(codec >= Decoder.NONE && codec <= Decoder.ZSTD, "codec 0, 1 or 2", codec);
        require(codec == Decoder.NONE || kind == BlockKind.DATA, "codec none", codec);
        require(dictionary == 0 || codec == Decoder.ZSTD, "a dictionary with Zstandard only", dictionary);
        require(dictionary >= 0 && dictionary <= writer.dictionaryCount(), "a dictionary of the file", dictionary);
        int size = stored.remaining();
        require(codec == Decoder.NONE ? plainSize == size : plainSize > size, "a plain size that fits", plainSize);
    }

    private void check(int kind, long plainSize, long records) throws FaroException {
        RecordRules.checkKind(kind);
        require(kind != BlockKind.DATA || plainSize >= 1, "a data block that is not empty", plainSize);
        require(plainSize <= maxPlain, "at most " + maxPlain + " plain bytes", plainSize);
        require(records >= 0, "a count of records", records);
    }

    /** The slot of a partition that may come next. */
    private int checkOwn(int partition, int size) throws FaroException {
        FileHeader header = writer.header();
        require(header.has(partition), "a partition of the file", partition);
        require(!shared, "no own block behind a shared extent", partition);
        int relative = partition - header.firstPartition();
        int slot = relative >= rotation ? relative - rotation : relative + header.partitionCount() - rotation;
        require(slot >= lastSlot, "blocks in slot order", partition);
        checkRoom(size);
        return slot;
    }

    private void checkShared(int size) throws FaroException {
        require(shared, "a partition, or a shared extent that was begun", "neither");
        checkRoom(size);
    }

    /** REG-3; a compressed block is never larger than a plain one. */
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
