package dev.faro.internal.index;

import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.codec.DictionaryDigest;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.message.Fields;
import dev.faro.internal.message.TableView;
import java.nio.ByteBuffer;

/** Where a footer may say that dictionaries (DIC-1) are located: DIC-3, FTR-7, and for a pair the tiling of FTR-3. */
final class DictionariesRule {
    /** Bytes of a DictionaryEntry: offset, size, reserved. */
    static final int ENTRY = 16;
    /** Bytes of a RegionEntry. */
    private static final int REGION = 32;
    private static final int MOST = 65_535;

    private DictionariesRule() {}

    /** What is wrong, or null; of regions whose entries were found to be right one by one. */
    static String fault(TableView table, FileHeader header, long footerOffset) {
        int count = table.length(Fields.FOOTER_DICTIONARIES);
        if (count > 0 && !header.hasDictionaries() || count > MOST) {
            return "FTR-7: " + count + " dictionaries";
        }
        boolean single = header.kind() == FileKind.SINGLE;
        ByteBuffer regions = table.bytes(Fields.FOOTER_REGIONS, REGION);
        ByteBuffer entries = table.bytes(Fields.FOOTER_DICTIONARIES, ENTRY);
        int regionCount = table.length(Fields.FOOTER_REGIONS);
        int dictionary = 0;
        long end = FileHeader.SIZE;
        // RegionIndex by region, with the dictionaries before each; then those behind the last.
        for (int region = 0; region <= regionCount; region++) {
            boolean last = region == regionCount;
            long begin = last ? footerOffset : regions.getLong(REGION * region + 16);
            while (dictionary < count && (last || entries.getLong(ENTRY * dictionary) < begin)) {
                long offset = entries.getLong(ENTRY * dictionary);
                long size = entries.getInt(ENTRY * dictionary + 8) & 0xFFFFFFFFL;
                // In a pair no gap, and none behind the last region; in a single file other metadata may lie between.
                boolean stands = single ? offset >= end && offset % 8 == 0 && offset <= begin : !last && offset == end;
                if (!stands || size < DictionaryDigest.LEAST || entries.getInt(ENTRY * dictionary + 12) != 0
                        || BlockHeader.sizeInFile(size) > begin - offset) {
                    return "FTR-7: dictionary " + (dictionary + 1);
                }
                end = offset + BlockHeader.sizeInFile(size);
                dictionary++;
            }
            if (!last && !single && begin != end) {
                return "FTR-3: data_offset of entry " + region;
            }
            if (!last) {
                end = single
                        ? regions.getLong(REGION * region)
                                + BlockHeader.sizeInFile(regions.getInt(REGION * region + 8) & 0xFFFFFFFFL)
                        : begin + regions.getLong(REGION * region + 24);
            }
        }
        return null;
    }
}
