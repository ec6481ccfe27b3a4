package dev.faro.internal.index;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.Limits;
import dev.faro.index.Footer;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.message.Directory;
import dev.faro.internal.message.Fields;
import dev.faro.internal.message.MessageKind;
import dev.faro.internal.message.TableView;
import dev.faro.internal.message.Verifier;
import dev.faro.internal.storage.InputFile;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The contents of a footer message (FTR).
 *
 * @param directory the regions and dictionaries
 * @param statistics the statistics of {@code footer}, or null
 * @param streams the streams of {@code footer}, or null
 * @param footer the rest
 */
public record FooterMessage(Directory directory, FooterStatistics statistics, FooterStreams streams, Footer footer) {
    private static final long MAX_DATA = 8 * 0xFFFFFFFFL;
    /** The size of a RegionEntry in bytes: message_offset, message_size, flags, data_offset, data_length. */
    private static final int ENTRY = 32;

    /**
     * Checks a footer message: checks 6 to 8 of OPN-2.
     *
     * @param header the header of the index file or single file
     * @param footerOffset the offset of the footer block
     * @throws FaroException {@code malformed-message}, {@code limit-exceeded} or {@code inconsistent-index}, each at
     *     the first byte of the message
     */
    public static FooterMessage parse(
            ByteBuffer message, FileHeader header, Limits limits, InputFile file, long footerOffset)
            throws FaroException {
        long offset = footerOffset + BlockHeader.SIZE;
        Verifier.check(message, MessageKind.FOOTER, header.newerMinor(), file, offset);
        TableView table = TableView.root(message);
        int regions = table.length(Fields.FOOTER_REGIONS);
        if (regions > limits.maxRegions()) {
            throw file.fault(ErrorCode.LIMIT_EXCEEDED, offset, "at most " + limits.maxRegions() + " regions", regions);
        }
        int dictionaries = table.length(Fields.FOOTER_DICTIONARIES);
        if (dictionaries > limits.maxDictionaries()) {
            throw file.fault(ErrorCode.LIMIT_EXCEEDED, offset, "at most " + limits.maxDictionaries() + " dictionaries",
                    dictionaries);
        }
        String fault = fault(table, header, footerOffset);
        if (fault != null) {
            throw file.fault(
                    ErrorCode.INCONSISTENT_INDEX, offset, "a footer that obeys FTR-2 to FTR-5, FTR-7 and FTR-8", fault);
        }
        Directory directory = new Directory();
        ByteBuffer entries = table.bytes(Fields.FOOTER_REGIONS, ENTRY);
        for (int i = 0; i < regions; i++) {
            int at = ENTRY * i;
            directory.add(entries.getLong(at), entries.getInt(at + 8), entries.getLong(at + 16),
                    entries.getLong(at + 24));
        }
        ByteBuffer dictionaryEntries = table.bytes(Fields.FOOTER_DICTIONARIES, DictionariesRule.ENTRY);
        for (int i = 0; i < dictionaries; i++) {
            int at = DictionariesRule.ENTRY * i;
            directory.addDictionary(dictionaryEntries.getLong(at), dictionaryEntries.getInt(at + 8));
        }
        FooterStatistics statistics = FooterStatistics.of(header, message);
        FooterStreams streams = FooterStreams.of(header, message);
        return new FooterMessage(directory, statistics, streams, new Footer(table.u64(Fields.FOOTER_DATA_SIZE),
                statistics, streams, properties(table), table.text(Fields.FOOTER_CREATED_BY)));
    }

    /** The size of the data file in bytes; in a single file, the offset of the footer block. */
    public long dataSize() {
        return footer.dataSize();
    }

    private static Map<String, String> properties(TableView table) {
        Map<String, String> properties = new LinkedHashMap<>();
        for (int i = 0; i < table.length(Fields.FOOTER_PROPERTIES); i++) {
            TableView property = table.table(Fields.FOOTER_PROPERTIES, i);
            properties.put(property.text(Fields.PROPERTY_KEY), property.text(Fields.PROPERTY_VALUE));
        }
        return Collections.unmodifiableMap(properties);
    }

    private static String fault(TableView table, FileHeader header, long footerOffset) {
        String fault = directoryFault(table, header.kind() == FileKind.SINGLE, footerOffset);
        if (fault == null) {
            fault = DictionariesRule.fault(table, header, footerOffset);
        }
        if (fault == null && table.has(Fields.FOOTER_STATISTICS)) {
            fault = statisticsFault(table.table(Fields.FOOTER_STATISTICS), header.partitionCount());
        }
        if (fault == null && table.has(Fields.FOOTER_STREAMS)) {
            fault = FooterStreams.fault(table.table(Fields.FOOTER_STREAMS), header);
        }
        return fault == null ? propertiesFault(table) : fault;
    }

    /** Checks FTR-2 and FTR-3; returns the first fault or null. */
    private static String directoryFault(TableView table, boolean single, long footerOffset) {
        ByteBuffer entries = table.bytes(Fields.FOOTER_REGIONS, ENTRY);
        long messagesEnd = FileHeader.SIZE;
        long dataEnd = FileHeader.SIZE;
        for (int i = 0; i < table.length(Fields.FOOTER_REGIONS); i++) {
            int at = ENTRY * i;
            long message = entries.getLong(at);
            long data = entries.getLong(at + 16);
            long length = entries.getLong(at + 24);
            if (entries.getInt(at + 12) != 0) {
                return "FTR-2: wrong flags in entry " + i;
            }
            if (message % 8 != 0 || message < messagesEnd || message > footerOffset) {
                return "FTR-2: a wrong message_offset in entry " + i;
            }
            if (length % 8 != 0 || length < BlockHeader.SIZE || length > MAX_DATA) {
                return "FTR-3: a wrong data_length in entry " + i;
            }
            boolean tiles = single
                    ? data % 8 == 0 && data >= messagesEnd && data <= message && data + length == message
                    // Only dictionaries can be in between; DictionariesRule checks them.
                    : data >= dataEnd && data <= Long.MAX_VALUE - length;
            if (!tiles) {
                return "FTR-3: a wrong data_offset in entry " + i;
            }
            messagesEnd = message + BlockHeader.sizeInFile(entries.getInt(at + 8) & 0xFFFFFFFFL);
            dataEnd = data + length;
            if (messagesEnd > footerOffset) {
                return "FTR-2: the message of entry " + i + " reaches into the footer";
            }
        }
        long dataSize = table.u64(Fields.FOOTER_DATA_SIZE);
        return dataSize == (single ? footerOffset : dataEnd) ? null : "FTR-3: data_size " + dataSize;
    }

    /** Checks FTR-4; returns the first fault or null. */
    private static String statisticsFault(TableView table, int partitionCount) {
        int[] fields = {Fields.STATISTICS_STORED, Fields.STATISTICS_PLAIN, Fields.STATISTICS_RECORDS};
        int[] sharedFields = {
            Fields.STATISTICS_STORED_TO_ALL, Fields.STATISTICS_PLAIN_TO_ALL, Fields.STATISTICS_RECORDS_TO_ALL
        };
        for (int i = 0; i < fields.length; i++) {
            if (!table.has(fields[i])) {
                continue;
            }
            if (table.length(fields[i]) != partitionCount) {
                return "FTR-4: statistics of " + table.length(fields[i]) + " partitions";
            }
            // The largest value of a partition with which the sum does not exceed 2^64 - 1.
            long max = ~table.u64(sharedFields[i]);
            LongBuffer values = table.bytes(fields[i], 8).asLongBuffer();
            while (values.hasRemaining()) {
                if (Long.compareUnsigned(values.get(), max) > 0) {
                    return "FTR-4: a sum of statistics above 2^64 - 1";
                }
            }
        }
        return null;
    }

    /** Checks FTR-5; returns the first fault or null. */
    private static String propertiesFault(TableView table) {
        ByteBuffer before = null;
        for (int i = 0; i < table.length(Fields.FOOTER_PROPERTIES); i++) {
            ByteBuffer key = table.table(Fields.FOOTER_PROPERTIES, i).bytes(Fields.PROPERTY_KEY, 1);
            if (before != null && compareUnsigned(before, key) >= 0) {
                return "FTR-5: property " + i + " out of order";
            }
            before = key;
        }
        return null;
    }

    private static int compareUnsigned(ByteBuffer a, ByteBuffer b) {
        int same = a.mismatch(b);
        if (same >= 0 && same < a.limit() && same < b.limit()) {
            return (a.get(same) & 0xFF) - (b.get(same) & 0xFF);
        }
        return a.limit() - b.limit();
    }
}
