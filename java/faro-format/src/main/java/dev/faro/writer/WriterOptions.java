package dev.faro.writer;

import dev.faro.Buffers;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.Framing;
import dev.faro.Listener;
import dev.faro.MemoryBudget;
import dev.faro.codec.Codec;
import dev.faro.internal.block.Payloads;
import dev.faro.internal.storage.OutputName;
import dev.faro.internal.storage.Patience;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.UUID;

/**
 * Options of a writer. The defaults are those of the specification; fields of the header without an option are zero
 * (HDR-3). Setters change this object and return it; other options types of the library are immutable, and have methods
 * {@code with} that make a changed copy. A value outside its range is refused when a writer is made (WRT-1).
 * <pre>{@code
 * WriterOptions options = new WriterOptions(64).codec(Codec.ZSTD).durability(Durability.COMMIT);
 * }</pre>
 */
public final class WriterOptions {
    private static final long MAX_BUFFER = 1L << 33;
    private static final long MAX_BLOCK = 1L << 26;
    private static final int MAX_LEVEL = 19;
    private static final long U32 = 0xFFFFFFFFL;

    /** Null if the NAME decides. */
    Layout layout;
    long singleBelow;
    MemoryBudget memoryBudget;
    Buffers buffers;
    Listener listener;
    boolean timed;
    /** How long to wait for the publishing lock (PUB-5). */
    Duration patience = Patience.MOST;
    final long partitionCount;
    long firstPartition;
    Framing framing = Framing.RECORDS;
    long producer;
    long attempt;
    UUID fileId;
    long blockSize = 64 << 10;
    long bufferSize = 64 << 20;
    Codec codec = Codec.NONE;
    int level = 1;
    boolean dictionaries;
    boolean ordered = true;
    long rotation;
    boolean selective;
    boolean statistics = true;
    String createdBy;
    Durability durability = Durability.NONE;
    boolean follow;
    boolean overwrite;
    long maxPlainSize = 64 << 20;
    byte[] schema;
    /** The size of a slot in bytes, for tests: 0 for no slots; null if it is chosen. */
    Integer slotSize;

    /** Makes the default options for a file with this number of partitions, 1 to 2^28. */
    public WriterOptions(long partitionCount) {
        this.partitionCount = partitionCount;
    }

    /** Other options with the same values, whose setters do not change these. */
    public WriterOptions copy() {
        return new WriterOptions(this);
    }

    /** Copies options, so that later calls of their setters do not change a writer. */
    WriterOptions(WriterOptions other) {
        layout = other.layout;
        singleBelow = other.singleBelow;
        memoryBudget = other.memoryBudget;
        buffers = other.buffers;
        listener = other.listener;
        timed = other.timed;
        patience = other.patience;
        partitionCount = other.partitionCount;
        firstPartition = other.firstPartition;
        framing = other.framing;
        producer = other.producer;
        attempt = other.attempt;
        fileId = other.fileId;
        blockSize = other.blockSize;
        bufferSize = other.bufferSize;
        codec = other.codec;
        level = other.level;
        dictionaries = other.dictionaries;
        ordered = other.ordered;
        rotation = other.rotation;
        selective = other.selective;
        statistics = other.statistics;
        createdBy = other.createdBy;
        durability = other.durability;
        follow = other.follow;
        overwrite = other.overwrite;
        maxPlainSize = other.maxPlainSize;
        schema = other.schema;
        slotSize = other.slotSize;
    }

    /**
     * Whether the output has two files or one; the default is the ending of the NAME, or a pair without one (PUB-1). An
     * ending that contradicts this is refused.
     */
    public WriterOptions layout(Layout value) {
        layout = value;
        return this;
    }

    /**
     * The output is a single file if it is finished with at most this many bytes of records, and without a region
     * before; otherwise a pair (WRT-13). A record is charged its bytes and 12 (SRT-1). 0, the default, is never; at
     * most 2^33. Until the layout is decided, the writer makes no file. Not with a layout, a NAME with the ending of
     * one, {@link #overwrite} or {@link #follow}. Neither layout may exist under the NAME.
     */
    public WriterOptions singleBelow(long value) {
        singleBelow = value;
        return this;
    }

    /** The number of the first partition; default 0. */
    public WriterOptions firstPartition(long value) {
        firstPartition = value;
        return this;
    }

    /** What plain payloads contain; default records. */
    public WriterOptions framing(Framing value) {
        framing = value;
        return this;
    }

    /** The producer's number, an unsigned 64-bit value; default 0. */
    public WriterOptions producer(long value) {
        producer = value;
        return this;
    }

    /** The producer's attempt, an unsigned 64-bit value; default 0. */
    public WriterOptions attempt(long value) {
        attempt = value;
        return this;
    }

    /** The file_id; default random. */
    public WriterOptions fileId(UUID value) {
        fileId = value;
        return this;
    }

    /** The target for the plain size of a data block in bytes, 1 to 2^26; default 65,536. */
    public WriterOptions blockSize(long value) {
        blockSize = value;
        return this;
    }

    /** The size of the sort buffer in bytes, 1 to 2^33; default 67,108,864. */
    public WriterOptions bufferSize(long value) {
        bufferSize = value;
        return this;
    }

    /**
     * Grants the memory of the writer; default null, which grants all. {@link Writer#memoryUsed} is what it has
     * granted. A refusal ends the region and gives its memory back; if even the first memory of a region is refused,
     * the call fails with {@code io}, and can be repeated.
     */
    public WriterOptions memoryBudget(MemoryBudget value) {
        memoryBudget = value;
        return this;
    }

    /**
     * The memory in bytes that a writer with these options asks its {@link #memoryBudget} for beside that of records:
     * with the first record, and until its end. An engine that reserves this and a buffer for each of its tasks never
     * has to refuse a task everything.
     *
     * @throws FaroException {@code invalid-argument} if an option is out of range
     */
    public long workingMemory() throws FaroException {
        return WorkingMemory.bytes(header(layout), blockSize, bufferSize, codec);
    }

    /**
     * Supplies the memory for records, heap or direct; default null, the heap. All buffers are given back by
     * {@link Writer#flush}, and when the writer ends. This memory is not asked from {@link #memoryBudget}.
     */
    public WriterOptions buffers(Buffers value) {
        buffers = value;
        return this;
    }

    /** Gets regions, the end and faults; default null, no listener. */
    public WriterOptions listener(Listener value) {
        listener = value;
        return this;
    }

    /** Whether {@link WriterFigures} have the times of compression and checksums, which costs time; default no. */
    public WriterOptions timed(boolean value) {
        timed = value;
        return this;
    }

    /** How data blocks are compressed; default none. */
    public WriterOptions codec(Codec value) {
        codec = value;
        return this;
    }

    /** The level of Zstandard, 1 to 19; default 1. */
    public WriterOptions level(int value) {
        level = value;
        return this;
    }

    /**
     * Whether blocks may be compressed with dictionaries; default no. With codec Zstandard, the writer trains a
     * dictionary if blocks are small. With any codec, it accepts those of {@link Writer#dictionary} (DIC-7).
     */
    public WriterOptions dictionaries(boolean value) {
        dictionaries = value;
        return this;
    }

    /** Whether the order of calls is kept within each partition (SRT-4); default yes. */
    public WriterOptions ordered(boolean value) {
        ordered = value;
        return this;
    }

    /**
     * The partition of the first slot in dense regions, relative to the first partition (REG-5); less than the number
     * of partitions; default 0.
     */
    public WriterOptions rotation(long value) {
        rotation = value;
        return this;
    }

    /**
     * Whether the file has the reader feature {@code selective}: {@link RegionWriter#sequence} may leave gaps, for blocks
     * that were consumed and need not be stored (BLK-3); default no.
     */
    public WriterOptions selective(boolean value) {
        selective = value;
        return this;
    }

    /** Whether the footer has statistics; default yes. */
    public WriterOptions statistics(boolean value) {
        statistics = value;
        return this;
    }

    /** The name of the writing program; default absent. */
    public WriterOptions createdBy(String value) {
        createdBy = value;
        return this;
    }

    /** What is synced to the device; default nothing. */
    public WriterOptions durability(Durability value) {
        durability = value;
        return this;
    }

    /** Whether readers may follow the file while it is written (WRT-4); default no. */
    public WriterOptions follow(boolean value) {
        follow = value;
        return this;
    }

    /** Whether existing files with the final names may be replaced; default no. */
    public WriterOptions overwrite(boolean value) {
        overwrite = value;
        return this;
    }

    /**
     * The maximum plain size of a block, in bytes, 1 to 2^32 - 1; default 67,108,864. Readers with default limits
     * refuse larger blocks ({@code limit-exceeded}): raise their {@link dev.faro.Limits#maxPlainSize} too and, for
     * blocks that are not compressed, {@link dev.faro.Limits#maxBlockSize}.
     */
    public WriterOptions maxPlainSize(long value) {
        maxPlainSize = value;
        return this;
    }

    /** The encapsulated Arrow schema message, required for framing arrow. */
    public WriterOptions schema(byte[] value) {
        schema = value == null ? null : value.clone();
        return this;
    }

    /** The layout of an output with this NAME; null if it is decided later. */
    Layout layoutOf(OutputName name) throws FaroException {
        if (singleBelow != 0) {
            require(name.ending() == OutputName.Ending.NONE, "single_below", "a NAME without a layout",
                    name.path().getFileName());
            return layout;
        }
        Layout named = switch (name.ending()) {
            case SINGLE -> Layout.SINGLE;
            case PAIRED -> Layout.PAIRED;
            case NONE -> layout == null ? Layout.PAIRED : layout;
        };
        if (layout != null && layout != named) {
            throw FaroException.invalidArgument(
                    "option layout " + layout + " with another NAME, or the layout of the NAME",
                    name.path().getFileName());
        }
        return named;
    }

    /** The option rotation; for other packages of this library. */
    public int rotation() {
        return (int) rotation;
    }

    /** Refuses the options that a hybrid store cannot have (HYB-2). */
    void checkHybrid() throws FaroException {
        require(layout != Layout.SINGLE, "layout", "a pair, in a hybrid store", layout);
        require(singleBelow == 0, "single_below", "0, in a hybrid store", singleBelow);
        require(durability == Durability.NONE, "durability", "none, in a hybrid store", durability);
        require(!dictionaries, "dictionaries", "no, in a hybrid store", "yes");
        require(!selective, "selective", "no: the mode of a hybrid store decides", "yes");
    }

    /** Checks all options, and returns the header for them. */
    FileHeader header(Layout files) throws FaroException {
        range("partition_count", partitionCount, 1, FileHeader.MAX_PARTITIONS);
        range("first_partition", firstPartition, 0, FileHeader.MAX_PARTITIONS - partitionCount);
        range("block_size", blockSize, 1, MAX_BLOCK);
        range("buffer_size", bufferSize, 1, MAX_BUFFER);
        range("single_below", singleBelow, 0, MAX_BUFFER);
        require(singleBelow == 0 || layout == null, "single_below", "no option layout", layout);
        require(singleBelow == 0 || !overwrite, "single_below", "no option overwrite", "overwrite");
        require(singleBelow == 0 || !follow, "single_below", "no option follow", "follow");
        range("level", level, 1, MAX_LEVEL);
        range("rotation", rotation, 0, partitionCount - 1);
        range("max_plain_size", maxPlainSize, 1, U32);
        require(codec != null, "codec", "a codec", "null");
        require(framing != null, "framing", "a framing", "null");
        require(durability != null, "durability", "a durability", "null");
        require((schema != null) == (framing == Framing.ARROW), "schema",
                framing == Framing.ARROW ? "a schema message, for framing arrow" : "none, except for framing arrow",
                schema == null ? "none" : "one");
        if (schema != null) {
            ByteBuffer bytes = ByteBuffer.wrap(schema).order(ByteOrder.LITTLE_ENDIAN);
            require(Payloads.isArrowMessage(bytes), "schema", "an encapsulated Arrow message", "other bytes");
        }
        FileKind kind = files == Layout.SINGLE ? FileKind.SINGLE : FileKind.INDEX;
        UUID id = fileId == null ? UUID.randomUUID() : fileId;
        return new FileHeader(kind, 0, framing, (int) partitionCount, (int) firstPartition,
                (selective ? FileHeader.SELECTIVE : 0) | (dictionaries ? FileHeader.DICTIONARIES : 0), 0, producer, attempt, id);
    }

    private static void range(String option, long value, long least, long most) throws FaroException {
        require(value >= least && value <= most, option, least + " to " + most, value);
    }

    private static void require(boolean holds, String option, String expected, Object value) throws FaroException {
        if (!holds) {
            throw FaroException.invalidArgument("option " + option + ": " + expected, value);
        }
    }
}
