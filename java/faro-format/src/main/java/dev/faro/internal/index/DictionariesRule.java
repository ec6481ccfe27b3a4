package dev.faro.internal.index;

import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.codec.DictionaryDigest;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.message.Fields;
import dev.faro.internal.message.TableView;
import java.nio.ByteBuffer;

/** The rules for a footer's list of dictionaries (DIC-1): DIC-3, FTR-7, and for a pair the tiling of FTR-3. */
final class DictionariesRule {
    /** The size of a DictionaryEntry in bytes: offset, size, reserved. */
    static final int ENTRY = 16;
    /** The size of a RegionEntry in bytes. */
    private static final int REGION = 32;
    private static final int MAX_DICTIONARIES = 65_535;

    private DictionariesRule() {}

    /** Returns the first fault, or null. The caller has checked each region entry by itself. */
    static String fault(TableView table, FileHeader header, long footerOffset) {
        int count = table.length(Fields.FOOTER_DICTIONARIES);
        if (count > 0 && !header.hasDictionaries() || count > MAX_DICTIONARIES) {
            return "FTR-7: " + count + " dictionaries";
        }
        boolean single = header.kind() == FileKind.SINGLE;
        ByteBuffer regions = table.bytes(Fields.FOOTER_REGIONS, REGION);
        ByteBuffer entries = table.bytes(Fields.FOOTER_DICTIONARIES, ENTRY);
        int regionCount = table.length(Fields.FOOTER_REGIONS);
        int dictionary = 0;
        long end = FileHeader.SIZE;
        // Goes through the regions, each with the dictionaries before it, and then the dictionaries after the last
        // region.
        for (int region = 0; region <= regionCount; region++) {
            boolean last = region == regionCount;
            long begin = last ? footerOffset : regions.getLong(REGION * region + 16);
            while (dictionary < count && (last || entries.getLong(ENTRY * dictionary) < begin)) {
                long offset = entries.getLong(ENTRY * dictionary);
                long size = entries.getInt(ENTRY * dictionary + 8) & 0xFFFFFFFFL;
                // A pair has no gaps, and nothing after the last region. In a single file, other metadata may be in
                // between.
                boolean placed = single ? offset >= end && offset % 8 == 0 && offset <= begin : !last && offset == end;
                if (!placed || size < DictionaryDigest.LEAST || entries.getInt(ENTRY * dictionary + 12) != 0
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
