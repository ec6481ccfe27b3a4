package dev.faro.internal.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.google.flatbuffers.FlatBufferBuilder;
import dev.faro.internal.generated.Region;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class VerifierTest {
    private static ByteBuffer region() throws Exception {
        var shared =
                List.of(new MessageBuilder.Shared(40, new byte[] {1, 2}, 5), new MessageBuilder.Shared(10, null, 6));
        return MessageBuilder.region(
                3, 4096, 800, new int[] {0, 5, 50, 100}, 0, new int[] {1, 7, 9}, shared, null);
    }

    private static ByteBuffer footer() throws Exception {
        Directory directory = new Directory();
        directory.add(64, 100, 64, 800);
        SortedMap<byte[], byte[]> properties = new TreeMap<>(Arrays::compareUnsigned);
        properties.put("schlüssel".getBytes(StandardCharsets.UTF_8), new byte[0]);
        properties.put(new byte[] {'k'}, new byte[] {'v', 'w'});
        return MessageBuilder.footer(directory, 864, new MessageBuilder.Counts(new long[] {1, 2}, null, null, 5, 0, 0),
                new MessageBuilder.StreamCounts(new int[] {3, -1}, new int[] {0, 2}, 7, 6), properties, new byte[] {'x'});
    }

    private static ByteBuffer copy(ByteBuffer message) {
        ByteBuffer copy = ByteBuffer.allocate(message.limit()).order(ByteOrder.LITTLE_ENDIAN);
        return copy.put(0, message, 0, message.limit());
    }

    @Test
    void builtMessagesAreValid() throws Exception {
        assertNull(Verifier.fault(region(), MessageKind.REGION, false));
        assertNull(Verifier.fault(region(), MessageKind.REGION, true));
        assertNull(Verifier.fault(footer(), MessageKind.FOOTER, false));
        assertNull(Verifier.fault(MessageBuilder.schema(new byte[3]), MessageKind.SCHEMA, false));
        assertNotNull(Verifier.fault(region(), MessageKind.FOOTER, false));
    }

    /** Changed bytes neither make the verifier throw nor let the views read outside the verified bytes. */
    @Test
    void mutationsAreJudged() throws Exception {
        long seed = 20261120;
        Random random = new Random(seed);
        for (int i = 0; i < 100_000; i++) {
            boolean isRegion = random.nextBoolean();
            ByteBuffer message = copy(isRegion ? region() : footer());
            for (int n = 1 + random.nextInt(3); n > 0; n--) {
                int at = random.nextInt(message.limit());
                int changed = random.nextBoolean() ? random.nextInt(256) : message.get(at) + random.nextInt(9) - 4;
                message.put(at, (byte) changed);
            }
            MessageKind kind = isRegion ? MessageKind.REGION : MessageKind.FOOTER;
            boolean strict = Verifier.fault(message, kind, false) == null;
            boolean lenient = Verifier.fault(message, kind, true) == null;
            assertEquals(true, lenient || !strict, "strict but not lenient, seed " + seed + " " + i);
            if (lenient) {
                readAll(TableView.root(message), isRegion);
            }
        }
    }

    private static void readAll(TableView table, boolean isRegion) {
        if (isRegion) {
            for (int field : new int[] {Fields.REGION_OFFSETS, Fields.REGION_PARTITIONS, Fields.REGION_FIRST_BLOCK}) {
                table.bytes(field, 4);
            }
            table.bytes(Fields.REGION_RUNS, 32);
            for (int i = 0; i < table.length(Fields.REGION_SHARED); i++) {
                table.table(Fields.REGION_SHARED, i).bytes(Fields.SHARED_MEMBERS, 1);
            }
        } else {
            table.bytes(Fields.FOOTER_REGIONS, 32);
            table.text(Fields.FOOTER_CREATED_BY);
            if (table.has(Fields.FOOTER_STATISTICS)) {
                table.table(Fields.FOOTER_STATISTICS).bytes(Fields.STATISTICS_STORED, 8);
            }
            for (int i = 0; i < table.length(Fields.FOOTER_PROPERTIES); i++) {
                table.table(Fields.FOOTER_PROPERTIES, i).text(Fields.PROPERTY_VALUE);
            }
        }
    }

    @Test
    void everyTruncationAndExtension() throws Exception {
        for (ByteBuffer message : List.of(region(), footer())) {
            MessageKind kind = message.getInt(4) == MessageKind.REGION.identifierNumber()
                    ? MessageKind.REGION : MessageKind.FOOTER;
            for (int size = 0; size < message.limit(); size++) {
                // Zero bytes at the end may be the last gap.
                if (size < message.limit() - 3) {
                    assertNotNull(Verifier.fault(copy(message).limit(size), kind, false));
                }
            }
            ByteBuffer longer = ByteBuffer.allocate(message.limit() + 8).order(ByteOrder.LITTLE_ENDIAN);
            longer.put(0, message, 0, message.limit());
            assertNotNull(Verifier.fault(longer, kind, false));
            assertNull(Verifier.fault(longer, kind, true));
        }
    }

    /** A field of a newer minor version is refused by a strict reader and passed over by a lenient one. */
    @Test
    void unknownFields() {
        FlatBufferBuilder builder = new FlatBufferBuilder();
        int offsets = Region.createOffsetsVector(builder, new long[] {0});
        builder.startTable(12);
        builder.addInt(11, 77, 0);
        Region.addOffsets(builder, offsets);
        builder.finish(builder.endTable(), "FRRG");
        ByteBuffer message = builder.dataBuffer().slice().order(ByteOrder.LITTLE_ENDIAN);
        assertNotNull(Verifier.fault(message, MessageKind.REGION, false));
        assertNull(Verifier.fault(message, MessageKind.REGION, true));
        assertEquals(1, TableView.root(message).length(Fields.REGION_OFFSETS));
    }
}
