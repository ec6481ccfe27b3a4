package dev.faro.flink;

import dev.faro.BlockKind;
import java.io.IOException;
import java.util.List;
import org.apache.flink.runtime.io.network.buffer.Buffer.DataType;

/**
 * Maps the types of Flink's buffers to kinds of blocks. Types are found by name, because versions of Flink have
 * different types in different orders.
 */
final class Events {
    /**
     * The first name has the lowest kind that is left to applications. Names are never moved; new ones are added at the
     * end.
     */
    private static final List<String> NAMES = List.of(
            "EVENT_BUFFER",
            "END_OF_DATA",
            "END_OF_PARTITION",
            "END_OF_SEGMENT",
            "RECOVERY_COMPLETION",
            "RECOVERY_METADATA",
            "ALIGNED_WATERMARK_EVENT",
            "UNALIGNED_WATERMARK_EVENT",
            "ALIGNED_CHECKPOINT_BARRIER",
            "TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER",
            "PRIORITIZED_EVENT_BUFFER");

    private static final DataType[] TYPES = new DataType[NAMES.size()];

    static {
        for (DataType type : DataType.values()) {
            int number = NAMES.indexOf(type.name());
            if (number >= 0) {
                TYPES[number] = type;
            }
        }
    }

    private Events() {}

    /**
     * The kind of block for an event.
     *
     * @throws IOException if the event is of a newer Flink than this table
     */
    static int kind(DataType type) throws IOException {
        int number = NAMES.indexOf(type.name());
        if (number < 0) {
            throw new IOException("expected an event of one of the types " + NAMES + ", found " + type);
        }
        return BlockKind.FIRST_OF_APPLICATION + number;
    }

    /**
     * The type of the buffer for a block.
     *
     * @throws IOException if this Flink does not know the event of this kind
     */
    static DataType type(int kind) throws IOException {
        if (kind == BlockKind.DATA) {
            return DataType.DATA_BUFFER;
        }
        int number = kind - BlockKind.FIRST_OF_APPLICATION;
        if (number < 0 || number >= TYPES.length || TYPES[number] == null) {
            throw new IOException("expected a block of data or of an event that this Flink knows, found kind " + kind);
        }
        return TYPES[number];
    }
}
