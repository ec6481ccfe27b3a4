package dev.faro.rooms.wrong.bytes;

import dev.faro.rooms.wrong.reader.CircleStart;

/** Uses a class of a room above. */
final class WrongArrow {
    private WrongArrow() {}

    static int up() {
        return CircleStart.step(1);
    }
}
