package dev.faro.scheduler;

import java.nio.ByteBuffer;

/** Supplies a scheduler with memory, for example from an engine's own pool. Safe to share between threads. */
public interface Buffers {
    /**
     * Returns a direct buffer that has no other user until it is given back. Its position is 0. It may be smaller than
     * wanted; the scheduler then takes more of them. An exception ends the reading that needs the memory. So does a
     * buffer that cannot be read into: one of 0 bytes, a read-only one, or one that is not direct.
     *
     * @param wanted the number of bytes to read
     * @return null if there is no buffer now; {@link Scheduler#wake} must be called when there may be one
     */
    ByteBuffer take(int wanted);

    /**
     * Receives a buffer from {@link #take} that is not needed any more: the same object, once, with any position and
     * limit. An exception is thrown by the call that gave the buffer back, and ends no reading.
     */
    void giveBack(ByteBuffer buffer);
}
