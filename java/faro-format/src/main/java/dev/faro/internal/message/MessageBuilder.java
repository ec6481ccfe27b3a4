package dev.faro.internal.message;

import com.google.flatbuffers.FlatBufferBuilder;
import dev.faro.FaroException;
import dev.faro.internal.generated.DictionaryEntry;
import dev.faro.internal.generated.Footer;
import dev.faro.internal.generated.Property;
import dev.faro.internal.generated.Region;
import dev.faro.internal.generated.RegionEntry;
import dev.faro.internal.generated.Run;
import dev.faro.internal.generated.Schema;
import dev.faro.internal.generated.SharedExtent;
import dev.faro.internal.generated.Statistics;
import dev.faro.internal.generated.Streams;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/**
 * Builds messages with canonical bytes (CAN-1 to CAN-3). A vector that is null is absent; so are a vector of zeros in
 * statistics and streams, and an empty list.
 */
public final class MessageBuilder {
    /** More than a message needs besides its vectors, in bytes. */
    private static final int FRAME = 256;
    private static final int MAX_SIZE = Integer.MAX_VALUE - 64;
    private static final long U32 = 0xFFFFFFFFL;

    private MessageBuilder() {}

    /**
     * A shared extent.
     *
     * @param length the length in units of 8 bytes
     * @param members the bit set, or null for every partition
     * @param firstBlock the sequence of the first block
     */
    public record Shared(int length, byte[] members, int firstBlock) {}

    /**
     * A run of a merged file (REG-8).
     *
     * @param units its length in units of 8 bytes
     */
    public record RunEntry(long producer, long attempt, long firstBlock, long blocks, int units, boolean last) {}

    /**
     * Builds a region message.
     *
     * @param offsets the offsets in units of 8 bytes, one more than there are slots
     * @param partitions the partitions of the slots of a sparse region; otherwise null
     * @param firstBlock the sequences, or null
     * @throws FaroException {@code limit-exceeded} if the message would be too large for a buffer
     */
    public static ByteBuffer region(
            long sequence, long dataOffset, long dataLength, int[] offsets, int rotation, int[] partitions,
            List<Shared> shared, int[] firstBlock) throws FaroException {
        return region(sequence, dataOffset, dataLength, offsets, rotation, partitions, shared, List.of(), firstBlock);
    }

    /** Builds the message of a region of a merged file: dense or sparse, with runs. */
    public static ByteBuffer region(
            long sequence, long dataOffset, long dataLength, int[] offsets, int[] partitions,
            List<RunEntry> runs) throws FaroException {
        return region(sequence, dataOffset, dataLength, offsets, 0, partitions, List.of(), runs, null);
    }

    private static ByteBuffer region(
            long sequence, long dataOffset, long dataLength, int[] offsets, int rotation, int[] partitions,
            List<Shared> shared, List<RunEntry> runs, int[] firstBlock) throws FaroException {
        long size = FRAME + 32L * runs.size() + 4L * offsets.length + (partitions == null ? 0 : 4L * partitions.length)
                + (firstBlock == null ? 0 : 4L * firstBlock.length);
        for (Shared extent : shared) {
            size += 48L + (extent.members() == null ? 0 : extent.members().length);
        }
        FlatBufferBuilder builder = builder(size);
        int offsetsAt = ints(builder, offsets);
        int partitionsAt = partitions == null ? 0 : ints(builder, partitions);
        int sharedAt = 0;
        if (!shared.isEmpty()) {
            int[] tables = new int[shared.size()];
            for (int i = 0; i < tables.length; i++) {
                Shared extent = shared.get(i);
                int members = extent.members() == null ? 0 : builder.createByteVector(extent.members());
                tables[i] = SharedExtent.createSharedExtent(
                        builder, extent.length() & U32, members, extent.firstBlock() & U32);
            }
            sharedAt = Region.createSharedVector(builder, tables);
        }
        int runsAt = 0;
        if (!runs.isEmpty()) {
            Region.startRunsVector(builder, runs.size());
            for (int i = runs.size() - 1; i >= 0; i--) {
                RunEntry run = runs.get(i);
                Run.createRun(builder, run.producer(), run.attempt(), run.firstBlock(), run.blocks(),
                        run.units() & U32, run.last() ? 1 : 0);
            }
            runsAt = builder.endVector();
        }
        int firstAt = firstBlock == null || firstBlock.length == 0 ? 0 : ints(builder, firstBlock);
        int root = Region.createRegion(builder, sequence, dataOffset, dataLength, offsetsAt, rotation, partitionsAt,
                sharedAt, runsAt, firstAt);
        return finish(builder, root, MessageKind.REGION);
    }

    /** The statistics of a footer. Each vector is null or has a value for each partition. */
    public record Counts(
            long[] stored, long[] plain, long[] records, long storedToAll, long plainToAll, long recordsToAll) {}

    /**
     * The streams of the footer of a selective file, as unsigned numbers.
     *
     * @param next a value for each partition, or null for zeros
     * @param missing a value for each partition, or null for zeros
     */
    public record StreamCounts(int[] next, int[] missing, int sharedNext, int sharedMissing) {}

    /**
     * Builds a footer message.
     *
     * @param counts the statistics, or null for a footer without them
     * @param streams the streams, or null for a footer without them
     * @param properties sorted by the bytes of their keys; all text in UTF-8
     * @param createdBy the program, or null
     * @throws FaroException {@code limit-exceeded} if the message would be too large for a buffer
     */
    public static ByteBuffer footer(
            Directory directory, long dataSize, Counts counts, StreamCounts streams,
            SortedMap<byte[], byte[]> properties, byte[] createdBy) throws FaroException {
        long size = FRAME + 32L * directory.size() + 16L * directory.dictionaryCount()
                + (createdBy == null ? 0 : createdBy.length);
        for (Map.Entry<byte[], byte[]> property : properties.entrySet()) {
            size += 64L + property.getKey().length + property.getValue().length;
        }
        if (counts != null) {
            size += size(counts.stored) + size(counts.plain) + size(counts.records);
        }
        if (streams != null) {
            size += size(streams.next) + size(streams.missing);
        }
        FlatBufferBuilder builder = builder(size);
        int entries = 0;
        if (directory.size() > 0) {
            Footer.startRegionsVector(builder, directory.size());
            for (int i = directory.size() - 1; i >= 0; i--) {
                RegionEntry.createRegionEntry(builder, directory.messageOffset(i), directory.messageSize(i), 0,
                        directory.dataOffset(i), directory.dataLength(i));
            }
            entries = builder.endVector();
        }
        int statistics = counts == null ? 0 : statistics(builder, counts);
        int propertiesAt = properties.isEmpty() ? 0 : properties(builder, properties);
        int createdByAt = createdBy == null ? 0 : builder.createString(ByteBuffer.wrap(createdBy));
        int dictionaries = 0;
        if (directory.dictionaryCount() > 0) {
            Footer.startDictionariesVector(builder, directory.dictionaryCount());
            for (int i = directory.dictionaryCount() - 1; i >= 0; i--) {
                DictionaryEntry.createDictionaryEntry(
                        builder, directory.dictionaryOffset(i), directory.dictionarySize(i), 0);
            }
            dictionaries = builder.endVector();
        }
        int streamsAt = streams == null ? 0 : streams(builder, streams);
        int root = Footer.createFooter(
                builder, entries, dataSize, statistics, propertiesAt, createdByAt, dictionaries, streamsAt);
        return finish(builder, root, MessageKind.FOOTER);
    }

    private static int statistics(FlatBufferBuilder builder, Counts counts) {
        int stored = longs(builder, counts.stored);
        int plain = longs(builder, counts.plain);
        int records = longs(builder, counts.records);
        return Statistics.createStatistics(
                builder, stored, plain, records, counts.storedToAll, counts.plainToAll, counts.recordsToAll);
    }

    private static int streams(FlatBufferBuilder builder, StreamCounts streams) {
        int next = isZero(streams.next) ? 0 : ints(builder, streams.next);
        int missing = isZero(streams.missing) ? 0 : ints(builder, streams.missing);
        return Streams.createStreams(
                builder, next, missing, streams.sharedNext & U32, streams.sharedMissing & U32);
    }

    private static int properties(FlatBufferBuilder builder, SortedMap<byte[], byte[]> properties) {
        int[] tables = new int[properties.size()];
        int i = 0;
        for (Map.Entry<byte[], byte[]> property : properties.entrySet()) {
            int key = builder.createString(ByteBuffer.wrap(property.getKey()));
            int value = builder.createString(ByteBuffer.wrap(property.getValue()));
            tables[i++] = Property.createProperty(builder, key, value);
        }
        return Footer.createPropertiesVector(builder, tables);
    }

    /**
     * Builds a schema message.
     *
     * @param arrow one encapsulated Arrow schema message
     */
    public static ByteBuffer schema(byte[] arrow) throws FaroException {
        FlatBufferBuilder builder = builder(FRAME + (long) arrow.length);
        int root = Schema.createSchema(builder, builder.createByteVector(arrow));
        return finish(builder, root, MessageKind.SCHEMA);
    }

    /** Makes a builder that never has to grow. */
    private static FlatBufferBuilder builder(long size) throws FaroException {
        if (size > MAX_SIZE) {
            throw FaroException.limitExceeded("a message of at most " + MAX_SIZE + " bytes", size);
        }
        return new FlatBufferBuilder((int) size);
    }

    private static ByteBuffer finish(FlatBufferBuilder builder, int root, MessageKind kind) {
        builder.finish(root, kind.identifier());
        return builder.dataBuffer().slice().order(ByteOrder.LITTLE_ENDIAN);
    }

    private static int ints(FlatBufferBuilder builder, int[] values) {
        ByteBuffer target = builder.createUnintializedVector(4, values.length, 4);
        target.order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().put(values);
        return builder.endVector();
    }

    private static int longs(FlatBufferBuilder builder, long[] values) {
        if (isZero(values)) {
            return 0;
        }
        ByteBuffer target = builder.createUnintializedVector(8, values.length, 8);
        target.order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().put(values);
        return builder.endVector();
    }

    private static boolean isZero(int[] values) {
        if (values != null) {
            for (int value : values) {
                if (value != 0) {
                    return false;
                }
            }
        }
        return true;
    }

    private static long size(int[] values) {
        return values == null ? 0 : 4L * values.length + 16;
    }

    private static boolean isZero(long[] values) {
        if (values != null) {
            for (long value : values) {
                if (value != 0) {
                    return false;
                }
            }
        }
        return true;
    }

    private static long size(long[] values) {
        return values == null ? 0 : 8L * values.length + 16;
    }
}
