package dev.faro.merge;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.Framing;
import dev.faro.Limits;
import dev.faro.internal.block.Payloads;
import dev.faro.writer.Durability;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/** What a merged file is, and how it is made (MRG-4). Changes after a merge was made do not change it. */
public final class MergeOptions {
    final long partitionCount;
    long firstPartition;
    Framing framing = Framing.RECORDS;
    UUID fileId;
    long generation;
    /** Null if any file_id is taken. */
    Names names;
    byte[] schema;
    boolean dictionaries;
    long chunkSize = 2 << 20;
    long maxWaiting = 16 << 20;
    Durability durability = Durability.NONE;
    byte[] createdBy;
    final SortedMap<byte[], byte[]> properties = new TreeMap<>(Arrays::compareUnsigned);
    Limits limits = Limits.DEFAULT;

    /** The defaults for this many partitions, 1 to 2^28. */
    public MergeOptions(long partitionCount) {
        this.partitionCount = partitionCount;
    }

    MergeOptions(MergeOptions other) {
        partitionCount = other.partitionCount;
        firstPartition = other.firstPartition;
        framing = other.framing;
        fileId = other.fileId;
        generation = other.generation;
        names = other.names;
        schema = other.schema;
        dictionaries = other.dictionaries;
        chunkSize = other.chunkSize;
        maxWaiting = other.maxWaiting;
        durability = other.durability;
        createdBy = other.createdBy;
        properties.putAll(other.properties);
        limits = other.limits;
    }

    /** The number of the first partition; default 0. */
    public MergeOptions firstPartition(long value) {
        firstPartition = value;
        return this;
    }

    /** What plain payloads contain; default records. */
    public MergeOptions framing(Framing value) {
        framing = value;
        return this;
    }

    /** The file_id; default random. When a merge is resumed, it must be that of the file if it is given. */
    public MergeOptions fileId(UUID value) {
        fileId = value;
        return this;
    }

    /** The generation of the merge, an unsigned 64-bit value: pushes for another are stale; default 0. */
    public MergeOptions generation(long value) {
        generation = value;
        return this;
    }

    /**
     * The names of the shuffle: a fragment is refused if its file_id does not follow from them, its producer and its
     * attempt (NAM-1). By default any file_id is taken.
     */
    public MergeOptions names(Names value) {
        names = value;
        return this;
    }

    /** With framing arrow: the encapsulated Arrow schema message. */
    public MergeOptions schema(byte[] value) {
        schema = value == null ? null : value.clone();
        return this;
    }

    /** Whether fragments may have dictionaries; default no. */
    public MergeOptions dictionaries(boolean value) {
        dictionaries = value;
        return this;
    }

    /** A region ends when it has at least this many bytes, 1 to 2^31; default 2 MiB. */
    public MergeOptions chunkSize(long value) {
        chunkSize = value;
        return this;
    }

    /** The bytes of all pushes that wait for their turn, at most; default 16 MiB. */
    public MergeOptions maxWaiting(long value) {
        maxWaiting = value;
        return this;
    }

    /** Whether regions are synced when they are committed; default none. */
    public MergeOptions durability(Durability value) {
        durability = value;
        return this;
    }

    /** The writing program, for the footer. */
    public MergeOptions createdBy(String value) {
        createdBy = value == null ? null : value.getBytes(StandardCharsets.UTF_8);
        return this;
    }

    /** A property for the footer. */
    public MergeOptions property(String key, String value) {
        properties.put(key.getBytes(StandardCharsets.UTF_8), value.getBytes(StandardCharsets.UTF_8));
        return this;
    }

    /** Properties for the footer. */
    public MergeOptions properties(Map<String, String> values) {
        values.forEach(this::property);
        return this;
    }

    /** What is taken from fragments, and from a file that is resumed, at most. */
    public MergeOptions limits(Limits value) {
        limits = Objects.requireNonNull(value, "limits");
        return this;
    }

    /** Checks the options, and returns the header of the index file (MRG-1). */
    FileHeader header() throws FaroException {
        range("partition_count", partitionCount, 1, FileHeader.MAX_PARTITIONS);
        range("first_partition", firstPartition, 0, FileHeader.MAX_PARTITIONS - partitionCount);
        range("chunk_size", chunkSize, 1, 1L << 31);
        range("max_waiting", maxWaiting, 0, Long.MAX_VALUE);
        require(framing != null, "framing", "a framing", "null");
        require(durability != null, "durability", "a durability", "null");
        require((schema != null) == (framing == Framing.ARROW), "schema",
                "a schema message with framing arrow, and with no other", schema == null ? "none" : "one");
        if (schema != null) {
            ByteBuffer bytes = ByteBuffer.wrap(schema).order(ByteOrder.LITTLE_ENDIAN);
            require(Payloads.isArrowMessage(bytes), "schema", "an encapsulated Arrow message", "other bytes");
        }
        UUID id = fileId == null ? UUID.randomUUID() : fileId;
        return new FileHeader(FileKind.INDEX, 0, framing, (int) partitionCount, (int) firstPartition,
                dictionaries ? FileHeader.DICTIONARIES : 0, 0, -1, generation, id);
    }

    /** The file_id that a fragment with this header has to have; its own without names. */
    UUID fileIdOf(FileHeader fragment) {
        return names == null ? fragment.fileId() : names.outputFileId(fragment.producer(), fragment.attempt());
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
