package dev.faro.rooms.wrong.reader;

/** Forms a circle with {@link CircleStart}. */
final class CircleEnd {
    private CircleEnd() {}

    static int step(int steps) {
        return steps == 0 ? 0 : CircleStart.step(steps - 1);
    }
}
