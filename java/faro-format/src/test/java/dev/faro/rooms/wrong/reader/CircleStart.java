package dev.faro.rooms.wrong.reader;

/** Forms a circle with {@link CircleEnd}. */
public final class CircleStart {
    private CircleStart() {}

    public static int step(int steps) {
        return steps == 0 ? 0 : CircleEnd.step(steps - 1);
    }
}
