package dev.faro.internal.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.flatbuffers.FlatBufferBuilder;
import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.internal.generated.Region;
import dev.faro.internal.storage.InputFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Messages that are read by position. A valid message reads as it does by {@link TableView}; any other is refused or
 * read.
 */
class TableProbeTest {
    private static final int BEFORE = 88;

    @TempDir
    Path folder;

    private static ByteBuffer region() throws Exception {
        int[] offsets = new int[121];
        int[] partitions = new int[120];
        for (int i = 0; i < 120; i++) {
            offsets[i + 1] = 3 * i + 3;
            partitions[i] = 2 * i;
        }
        return MessageBuilder.region(3, 4096, 8 * 410, offsets, 0, partitions,
                List.of(new MessageBuilder.Shared(40, new byte[] {1, 2}, 5), new MessageBuilder.Shared(10, null, 6)),
                null);
    }

    private FileChannel channel() throws IOException {
        return FileChannel.open(folder.resolve("message"), StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING);
    }

    private static void put(FileChannel channel, ByteBuffer message, long at) throws IOException {
        channel.write(message.duplicate().rewind(), BEFORE + at);
    }

    private static TableProbe root(InputFile file, long size, boolean newerMinor) throws FaroException {
        MessagePieces pieces = new MessagePieces(file);
        pieces.open(BEFORE, size);
        return TableProbe.root(pieces, MessageKind.REGION, newerMinor);
    }

    private static String read(TableProbe table) throws FaroException {
        StringBuilder text = new StringBuilder();
        text.append(table.u32(Fields.REGION_SEQUENCE)).append(' ').append(table.u64(Fields.REGION_DATA_OFFSET));
        for (int field : new int[] {Fields.REGION_OFFSETS, Fields.REGION_PARTITIONS, Fields.REGION_FIRST_BLOCK}) {
            TableProbe.Vector vector = table.vector(field);
            for (long i = 0; vector != null && i < vector.count(); i++) {
                text.append(' ').append(vector.u32(i));
            }
        }
        TableProbe.Vector shared = table.vector(Fields.REGION_SHARED);
        for (long i = 0; shared != null && i < shared.count(); i++) {
            TableProbe extent = shared.table(i);
            text.append(" | ").append(extent.u32(Fields.SHARED_LENGTH));
            TableProbe.Vector members = extent.vector(Fields.SHARED_MEMBERS);
            for (long j = 0; members != null && j < members.count(); j++) {
                text.append(' ').append(members.u8(j));
            }
        }
        return text.toString();
    }

    private static String read(TableView table) {
        StringBuilder text = new StringBuilder();
        text.append(table.u32(Fields.REGION_SEQUENCE)).append(' ').append(table.u64(Fields.REGION_DATA_OFFSET));
        for (int field : new int[] {Fields.REGION_OFFSETS, Fields.REGION_PARTITIONS, Fields.REGION_FIRST_BLOCK}) {
            ByteBuffer vector = table.bytes(field, 4);
            for (int i = 0; vector != null && i < vector.limit(); i += 4) {
                text.append(' ').append(vector.getInt(i) & 0xFFFFFFFFL);
            }
        }
        for (int i = 0; i < table.length(Fields.REGION_SHARED); i++) {
            TableView extent = table.table(Fields.REGION_SHARED, i);
            text.append(" | ").append(extent.u32(Fields.SHARED_LENGTH));
            ByteBuffer members = extent.bytes(Fields.SHARED_MEMBERS, 1);
            for (int j = 0; members != null && j < members.limit(); j++) {
                text.append(' ').append(members.get(j) & 0xFF);
            }
        }
        return text.toString();
    }

    /** Half of the changes are near the beginning, where the tables are. */
    @Test
    void mutationsAreReadOrRefused() throws Exception {
        Random random = new Random(20261121);
        int refused = 0;
        int valid = 0;
        try (FileChannel channel = channel()) {
            put(channel, region(), 0);
            try (InputFile file = InputFile.open(FileRole.INDEX, folder.resolve("message"))) {
                for (int i = 0; i < 10_000; i++) {
                    ByteBuffer message = region();
                    ByteBuffer copy = ByteBuffer.allocate(message.limit()).order(ByteOrder.LITTLE_ENDIAN);
                    copy.put(0, message, 0, message.limit());
                    for (int n = 1 + random.nextInt(3); n > 0; n--) {
                        int at = random.nextInt(random.nextBoolean() ? 128 : copy.limit());
                        int changed = random.nextBoolean() ? random.nextInt(256) : copy.get(at) + random.nextInt(9) - 4;
                        copy.put(at, (byte) changed);
                    }
                    put(channel, copy, 0);
                    boolean newer = random.nextBoolean();
                    boolean isValid = Verifier.fault(copy, MessageKind.REGION, newer) == null;
                    valid += isValid ? 1 : 0;
                    try {
                        String found = read(root(file, copy.limit(), newer));
                        if (isValid) {
                            assertEquals(read(TableView.root(copy)), found);
                        }
                    } catch (FaroException e) {
                        assertEquals(ErrorCode.INCONSISTENT_INDEX, e.code());
                        assertEquals(BEFORE, e.offset());
                        assertTrue(!isValid, e.getMessage());
                        refused++;
                    }
                }
            }
        }
        assertTrue(refused > 1000 && valid > 1000, refused + " refused, " + valid + " valid");
    }

    /** A newer minor version adds fields to tables that an older reader does not know (MSG-12), up to 64 in all. */
    @Test
    void vtablesOfANewerMinor() throws Exception {
        for (int fields : new int[] {9, 10, 64, 65}) {
            FlatBufferBuilder builder = new FlatBufferBuilder();
            int offsets = Region.createOffsetsVector(builder, new long[] {7, 8});
            builder.startTable(fields);
            builder.addInt(fields - 1, 77, 0);
            Region.addOffsets(builder, offsets);
            builder.finish(builder.endTable(), "FRRG");
            ByteBuffer message = builder.dataBuffer().slice().order(ByteOrder.LITTLE_ENDIAN);
            int size = message.limit();
            try (FileChannel channel = channel()) {
                put(channel, message, 0);
            }
            try (InputFile file = InputFile.open(FileRole.INDEX, folder.resolve("message"))) {
                for (boolean newer : new boolean[] {false, true}) {
                    if (fields > (newer ? 64 : 9)) {
                        assertThrows(FaroException.class, () -> root(file, size, newer), fields + " fields");
                    } else {
                        assertEquals(8, root(file, size, newer).vector(Fields.REGION_OFFSETS).u32(1));
                        assertNull(root(file, size, newer).vector(Fields.REGION_SHARED));
                    }
                }
            }
        }
    }

    /** Positions and counts above 2^31, and offsets that would lead beyond 2^32; most of the file is a hole. */
    @Test
    void messagesAbove2GiB() throws Exception {
        long size = 0xC0000000L;
        long table = 0x90000000L;
        ByteBuffer root = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
        root.putInt(0, (int) table).putInt(4, MessageKind.REGION.identifierNumber());
        ByteBuffer bytes = ByteBuffer.allocate(36).order(ByteOrder.LITTLE_ENDIAN);
        // A vtable of 12 bytes: sequence at 4, offsets at 8; the table, and its vector of 184 million numbers.
        bytes.putShort(0, (short) 12).putShort(2, (short) 12).putShort(4, (short) 4).putShort(10, (short) 8);
        bytes.putInt(12, 12).putInt(16, -2).putInt(20, 4).putInt(24, 0x0B000000).putInt(28, 5).putInt(32, -7);
        try (FileChannel channel = channel()) {
            put(channel, root, 0);
            put(channel, bytes, table - 12);
            put(channel, ByteBuffer.allocate(1), size - 1);
            try (InputFile file = InputFile.open(FileRole.INDEX, folder.resolve("message"))) {
                TableProbe probe = root(file, size, false);
                assertEquals(0xFFFFFFFEL, probe.u32(Fields.REGION_SEQUENCE));
                TableProbe.Vector offsets = probe.vector(Fields.REGION_OFFSETS);
                assertEquals(0x0B000000, offsets.count());
                assertEquals(5, offsets.u32(0));
                assertEquals(0xFFFFFFF9L, offsets.u32(1));
                assertEquals(0, offsets.u32(offsets.count() - 1));
                for (int distance : new int[] {0x30000000, -4}) {
                    put(channel, bytes.putInt(20, distance), table - 12);
                    TableProbe wrong = root(file, size, false);
                    assertThrows(FaroException.class, () -> wrong.vector(Fields.REGION_OFFSETS));
                }
                put(channel, bytes.putInt(20, 4).putInt(24, -1), table - 12);
                TableProbe longer = root(file, size, false);
                assertThrows(FaroException.class, () -> longer.vector(Fields.REGION_OFFSETS));
                put(channel, bytes.putInt(12, Integer.MIN_VALUE), table - 12);
                assertThrows(FaroException.class, () -> root(file, size, false));
            }
        }
    }
}
