package dev.faro.scheduler;

import java.nio.ByteBuffer;

/** Where a scheduler has its memory from: an engine's own pool, say. Safe to share between threads. */
public interface Buffers {
    /**
     * A direct buffer that nobody else uses, until it is given back. Its position is 0; it may be smaller than wanted,
     * then the scheduler takes more of them.
     *
     * @param wanted bytes that are to be read
     * @return null if there is none now: {@link Scheduler#wake} tells when it is worth asking again
     */
    ByteBuffer take(int wanted);

    /** Gives back what {@link #take} gave, the same object; position and limit may be any. */
    void giveBack(ByteBuffer buffer);
}
