package dev.faro.flink;

import dev.faro.BlockKind;
import java.io.IOException;
import java.util.List;
import org.apache.flink.runtime.io.network.buffer.Buffer.DataType;

/**
 * How the types of Flink's buffers are written as kinds of blocks. The types are found by name, since not every version
 * of Flink has all of them and their order is not the same in all.
 */
final class Events {
    /** The first has the first of the kinds that are left to applications. None is ever moved; new ones come last. */
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
     * The kind that an event is written with.
     *
     * @throws IOException if it is an event of a Flink that is newer than this table
     */
    static int kind(DataType type) throws IOException {
        int number = NAMES.indexOf(type.name());
        if (number < 0) {
            throw new IOException("expected an event of one of the types " + NAMES + ", found " + type);
        }
        return BlockKind.FIRST_OF_APPLICATION + number;
    }

    /**
     * The type of the buffer that a block becomes.
     *
     * @throws IOException if the kind stands for nothing that this Flink knows
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
