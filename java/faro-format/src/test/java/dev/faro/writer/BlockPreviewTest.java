package dev.faro.writer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.Framing;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Dictionaries are trained on the blocks that will be written. */
class BlockPreviewTest {
    private static ByteBuffer ascii(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1)).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static List<String> taken(BlockPreview preview) {
        return preview.taken().stream().map(bytes -> new String(bytes, StandardCharsets.ISO_8859_1)).toList();
    }

    private static void record(BlockPreview preview, String record, int kind) {
        preview.record(ascii("..." + record + "..."), 3, record.length(), kind, 1);
    }

    private static void bytes(BlockPreview preview, String bytes, int count) {
        preview.bytes(ascii("." + bytes + "."), 1, 1 + bytes.length(), count);
    }

    /** Bytes are cut where a block is full, whether they arrive one record at a time or many at once, in any order. */
    @Test
    void opaqueBlocksAreFull() {
        BlockPreview preview = new BlockPreview(Framing.OPAQUE, 4, 1);
        preview.beginOwn(3);
        record(preview, "abcdefghi", BlockKind.DATA);
        bytes(preview, "jkl", 3);
        bytes(preview, "mnopq", 1);
        record(preview, "", BlockKind.DATA);
        preview.endExtent();
        preview.beginOwn(4);
        bytes(preview, "rstu", 1);
        record(preview, "event", BlockKind.EVENT);
        record(preview, "v", BlockKind.DATA);
        preview.endExtent();
        assertEquals(List.of("abcd", "efgh", "ijkl", "mnop", "q", "rstu", "v"), taken(preview));
        assertEquals(7, preview.blocks());
        assertEquals(22, preview.plain());
    }

    /** Framed records are whole, with their lengths; a record larger than a block has its own. */
    @Test
    void recordsAreWhole() throws FaroException {
        BlockPreview preview = new BlockPreview(Framing.RECORDS, 12, 1);
        preview.beginOwn(0);
        record(preview, "ab", BlockKind.DATA);
        preview.records(ascii("\2\0\0\0cd\1\0\0\0e"), 0, 11, 2);
        record(preview, "fghijklmnopqrst", BlockKind.DATA);
        record(preview, "u", BlockKind.DATA);
        preview.endExtent();
        assertEquals(
                List.of("\2\0\0\0ab\2\0\0\0cd", "\1\0\0\0e", "\17\0\0\0fghijklmnopqrst", "\1\0\0\0u"),
                taken(preview));
        assertEquals(4, preview.blocks());
        assertEquals(41, preview.plain());
    }

    /** Copied blocks come from the whole region, and are complete. If none are copied, blocks are still counted. */
    @Test
    void copiesSomeBlocks() {
        BlockPreview some = new BlockPreview(Framing.OPAQUE, 2, 2);
        BlockPreview none = new BlockPreview(Framing.OPAQUE, 2, 0);
        for (BlockPreview preview : List.of(some, none)) {
            preview.beginOwn(0);
            bytes(preview, "aabbccddeeff", 6);
            preview.endExtent();
            assertEquals(6, preview.blocks());
        }
        assertEquals(List.of("bb", "dd", "ff"), taken(some));
        assertTrue(none.taken().isEmpty());
    }
}
