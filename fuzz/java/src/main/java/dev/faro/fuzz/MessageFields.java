package dev.faro.fuzz;

import dev.faro.FaroException;
import dev.faro.internal.message.Directory;
import dev.faro.internal.message.Fields;
import dev.faro.internal.message.MessageBuilder;
import dev.faro.internal.message.MessageKind;
import dev.faro.internal.message.TableView;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;

/** The fields of a verified message, to print them (VERDICTS.md) and to build the message again. */
final class MessageFields {
    private static final int ENTRY = 32;
    /** The size of a DictionaryEntry in bytes. */
    private static final int DICTIONARY = 16;
    private static final int FLAGS = 12;

    private final MessageKind kind;
    private final TableView root;
    private final List<String> lines = new ArrayList<>();
    /** The same as {@link #lines}, without what a canonical message leaves out (CAN-3). */
    private final List<String> normal = new ArrayList<>();

    MessageFields(ByteBuffer message, MessageKind kind) {
        this.kind = kind;
        this.root = TableView.root(message);
        switch (kind) {
            case REGION -> region();
            case FOOTER -> footer();
            default -> {
                ByteBuffer arrow = root.bytes(Fields.SCHEMA_ARROW, 1);
                // A required vector is present even if it is empty.
                add("arrow " + vector(arrow, 1), "arrow " + vector(arrow, 1));
            }
        }
    }

    void print(Transcript transcript) {
        lines.forEach(transcript::line);
    }

    List<String> normal() {
        return normal;
    }

    private void add(String line, String canonical) {
        lines.add(line);
        normal.add(canonical);
    }

    private void number(String name, long value) {
        String line = name + " " + Long.toUnsignedString(value);
        add(line, line);
    }

    private void region() {
        number("sequence", root.u32(Fields.REGION_SEQUENCE));
        number("data_offset", root.u64(Fields.REGION_DATA_OFFSET));
        number("data_length", root.u64(Fields.REGION_DATA_LENGTH));
        String offsets = "offsets " + vector(root.bytes(Fields.REGION_OFFSETS, 4), 4);
        add(offsets, offsets);
        number("rotation", root.u32(Fields.REGION_ROTATION));
        String partitions = "partitions " + vector(root.bytes(Fields.REGION_PARTITIONS, 4), 4);
        add(partitions, partitions);
        for (int i = 0; i < root.length(Fields.REGION_SHARED); i++) {
            TableView extent = root.table(Fields.REGION_SHARED, i);
            String shared = "shared " + extent.u32(Fields.SHARED_LENGTH) + " "
                    + vector(extent.bytes(Fields.SHARED_MEMBERS, 1), 1) + " "
                    + extent.u32(Fields.SHARED_FIRST_BLOCK);
            add(shared, shared);
        }
        optional("runs", root.bytes(Fields.REGION_RUNS, 32), 32);
        optional("first_block", root.bytes(Fields.REGION_FIRST_BLOCK, 4), 4);
    }

    private void optional(String name, ByteBuffer values, int size) {
        boolean empty = values == null || values.limit() == 0;
        add(name + " " + vector(values, size), name + " " + (empty ? "-" : vector(values, size)));
    }

    private void footer() {
        ByteBuffer regions = root.bytes(Fields.FOOTER_REGIONS, ENTRY);
        String directory = "regions " + vector(regions == null ? ByteBuffer.allocate(0) : regions, ENTRY);
        add(directory, directory);
        number("data_size", root.u64(Fields.FOOTER_DATA_SIZE));
        TableView statistics = root.table(Fields.FOOTER_STATISTICS);
        add("statistics " + statistics(statistics, false), "statistics " + statistics(statistics, true));
        for (int i = 0; i < root.length(Fields.FOOTER_PROPERTIES); i++) {
            TableView property = root.table(Fields.FOOTER_PROPERTIES, i);
            String line = "property " + text(property.bytes(Fields.PROPERTY_KEY, 1)) + " "
                    + text(property.bytes(Fields.PROPERTY_VALUE, 1));
            add(line, line);
        }
        String createdBy = "created_by " + text(root.bytes(Fields.FOOTER_CREATED_BY, 1));
        add(createdBy, createdBy);
        ByteBuffer dictionaries = root.bytes(Fields.FOOTER_DICTIONARIES, DICTIONARY);
        String entries =
                "dictionaries " + vector(dictionaries == null ? ByteBuffer.allocate(0) : dictionaries, DICTIONARY);
        add(entries, entries);
        TableView streams = root.table(Fields.FOOTER_STREAMS);
        add("streams " + streams(streams, false), "streams " + streams(streams, true));
    }

    private static String streams(TableView table, boolean canonical) {
        if (table == null) {
            return "-";
        }
        StringBuilder text = new StringBuilder();
        for (int field : new int[] {Fields.STREAMS_NEXT, Fields.STREAMS_MISSING}) {
            ByteBuffer values = table.bytes(field, 4);
            text.append(canonical && isZero(values) ? "-" : vector(values, 4)).append(' ');
        }
        return text.append(table.u32(Fields.STREAMS_SHARED_NEXT)).append(' ')
                .append(table.u32(Fields.STREAMS_SHARED_MISSING)).toString();
    }

    private static String statistics(TableView table, boolean canonical) {
        if (table == null) {
            return "-";
        }
        StringBuilder text = new StringBuilder();
        for (int field : new int[] {Fields.STATISTICS_STORED, Fields.STATISTICS_PLAIN, Fields.STATISTICS_RECORDS}) {
            ByteBuffer values = table.bytes(field, 8);
            text.append(canonical && isZero(values) ? "-" : vector(values, 8)).append(' ');
        }
        return text.append(Long.toUnsignedString(table.u64(Fields.STATISTICS_STORED_TO_ALL))).append(' ')
                .append(Long.toUnsignedString(table.u64(Fields.STATISTICS_PLAIN_TO_ALL))).append(' ')
                .append(Long.toUnsignedString(table.u64(Fields.STATISTICS_RECORDS_TO_ALL))).toString();
    }

    private static boolean isZero(ByteBuffer values) {
        for (int i = 0; values != null && i < values.limit(); i++) {
            if (values.get(i) != 0) {
                return false;
            }
        }
        return true;
    }

    private static String vector(ByteBuffer values, int size) {
        return values == null ? "-" : values.limit() / size + ":" + Sums.of(values);
    }

    private static String text(ByteBuffer utf8) {
        if (utf8 == null) {
            return "-";
        }
        return utf8.limit() == 0 ? "\"\"" : HexFormat.of().formatHex(bytes(utf8));
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.limit()];
        buffer.get(0, bytes);
        return bytes;
    }

    /** Builds a canonical message with the same values; null if the builder does not make such messages. */
    ByteBuffer build() throws FaroException {
        return switch (kind) {
            case REGION -> buildRegion();
            case FOOTER -> buildFooter();
            default -> MessageBuilder.schema(bytes(root.bytes(Fields.SCHEMA_ARROW, 1)));
        };
    }

    private ByteBuffer buildRegion() throws FaroException {
        if (root.length(Fields.REGION_RUNS) > 0) {
            // Runs belong to merged files, which this library reads and does not write.
            return null;
        }
        List<MessageBuilder.Shared> shared = new ArrayList<>();
        for (int i = 0; i < root.length(Fields.REGION_SHARED); i++) {
            TableView extent = root.table(Fields.REGION_SHARED, i);
            ByteBuffer members = extent.bytes(Fields.SHARED_MEMBERS, 1);
            shared.add(new MessageBuilder.Shared((int) extent.u32(Fields.SHARED_LENGTH),
                    members == null ? null : bytes(members), (int) extent.u32(Fields.SHARED_FIRST_BLOCK)));
        }
        return MessageBuilder.region(root.u32(Fields.REGION_SEQUENCE), root.u64(Fields.REGION_DATA_OFFSET),
                root.u64(Fields.REGION_DATA_LENGTH), ints(Fields.REGION_OFFSETS),
                (int) root.u32(Fields.REGION_ROTATION), ints(Fields.REGION_PARTITIONS), shared,
                ints(Fields.REGION_FIRST_BLOCK));
    }

    private int[] ints(int field) {
        return ints(root, field);
    }

    private static int[] ints(TableView table, int field) {
        ByteBuffer values = table.bytes(field, 4);
        if (values == null) {
            return null;
        }
        int[] result = new int[values.limit() / 4];
        values.order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(result);
        return result;
    }

    private ByteBuffer buildFooter() throws FaroException {
        Directory directory = new Directory();
        ByteBuffer entries = root.bytes(Fields.FOOTER_REGIONS, ENTRY);
        for (int at = 0; entries != null && at < entries.limit(); at += ENTRY) {
            if (entries.getInt(at + FLAGS) != 0) {
                return null;
            }
            directory.add(entries.getLong(at), entries.getInt(at + 8), entries.getLong(at + 16),
                    entries.getLong(at + 24));
        }
        TreeMap<byte[], byte[]> properties = new TreeMap<>(Arrays::compareUnsigned);
        for (int i = 0; i < root.length(Fields.FOOTER_PROPERTIES); i++) {
            TableView property = root.table(Fields.FOOTER_PROPERTIES, i);
            byte[] key = bytes(property.bytes(Fields.PROPERTY_KEY, 1));
            if (!properties.isEmpty() && Arrays.compareUnsigned(properties.lastKey(), key) >= 0) {
                return null;
            }
            properties.put(key, bytes(property.bytes(Fields.PROPERTY_VALUE, 1)));
        }
        ByteBuffer dictionaries = root.bytes(Fields.FOOTER_DICTIONARIES, DICTIONARY);
        for (int at = 0; dictionaries != null && at < dictionaries.limit(); at += DICTIONARY) {
            if (dictionaries.getInt(at + 12) != 0) {
                return null;
            }
            directory.addDictionary(dictionaries.getLong(at), dictionaries.getInt(at + 8));
        }
        ByteBuffer createdBy = root.bytes(Fields.FOOTER_CREATED_BY, 1);
        return MessageBuilder.footer(directory, root.u64(Fields.FOOTER_DATA_SIZE), counts(), streamCounts(), properties,
                createdBy == null ? null : bytes(createdBy));
    }

    private MessageBuilder.Counts counts() {
        TableView table = root.table(Fields.FOOTER_STATISTICS);
        if (table == null) {
            return null;
        }
        return new MessageBuilder.Counts(longs(table, Fields.STATISTICS_STORED),
                longs(table, Fields.STATISTICS_PLAIN), longs(table, Fields.STATISTICS_RECORDS),
                table.u64(Fields.STATISTICS_STORED_TO_ALL), table.u64(Fields.STATISTICS_PLAIN_TO_ALL),
                table.u64(Fields.STATISTICS_RECORDS_TO_ALL));
    }

    private MessageBuilder.StreamCounts streamCounts() {
        TableView table = root.table(Fields.FOOTER_STREAMS);
        return table == null ? null : new MessageBuilder.StreamCounts(ints(table, Fields.STREAMS_NEXT),
                ints(table, Fields.STREAMS_MISSING), (int) table.u32(Fields.STREAMS_SHARED_NEXT),
                (int) table.u32(Fields.STREAMS_SHARED_MISSING));
    }

    private static long[] longs(TableView table, int field) {
        ByteBuffer values = table.bytes(field, 8);
        if (values == null) {
            return null;
        }
        long[] result = new long[values.limit() / 8];
        values.order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(result);
        return result;
    }
}
