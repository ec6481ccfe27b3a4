package dev.faro.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.faro.BlockKind;
import java.io.IOException;
import org.apache.flink.runtime.io.network.buffer.Buffer.DataType;
import org.junit.jupiter.api.Test;

/** Kinds of events are numbers in files, so they must not change. */
class EventsTest {
    @Test
    void everyEventToAKindAndBack() throws IOException {
        for (DataType type : DataType.values()) {
            if (type.isEvent()) {
                assertEquals(type, Events.type(Events.kind(type)));
            } else {
                assertThrows(IOException.class, () -> Events.kind(type));
            }
        }
        assertEquals(DataType.DATA_BUFFER, Events.type(BlockKind.DATA));
    }

    @Test
    void numbersDoNotMove() throws IOException {
        assertEquals(64, Events.kind(DataType.EVENT_BUFFER));
        assertEquals(65, Events.kind(DataType.END_OF_DATA));
        assertEquals(66, Events.kind(DataType.END_OF_PARTITION));
    }

    @Test
    void othersAreRefused() {
        for (int kind : new int[] {BlockKind.EVENT, 63, 75, 127, BlockKind.REGION}) {
            assertThrows(IOException.class, () -> Events.type(kind));
        }
    }
}
