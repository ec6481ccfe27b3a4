package dev.faro.scheduler;

import java.nio.ByteBuffer;

/** Where a scheduler has its memory from: an engine's own pool, say. Safe to share between threads. */
public interface Buffers {
    /**
     * A direct buffer that nobody else uses, until it is given back. Its position is 0; it may be smaller than wanted,
     * then the scheduler takes more of them. What this throws ends the reading that the memory was for, and so does a
     * buffer that cannot be read into: of 0 bytes, read-only, or not direct.
     *
     * @param wanted bytes that are to be read
     * @return null if there is none now: {@link Scheduler#wake} has to be called when it is worth asking again
     */
    ByteBuffer take(int wanted);

    /**
     * Gives back what {@link #take} gave, the same object, once; position and limit may be any. What this throws comes
     * out of the call that gave it back, and ends no reading.
     */
    void giveBack(ByteBuffer buffer);
}
